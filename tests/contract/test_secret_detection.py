"""Secrets are recognised by name, and ordinary settings are not."""

import pytest

from mosaic.contract.secret_detection import contains_secret, is_secret_name


@pytest.mark.parametrize(
    "name",
    [
        "WANDB_API_KEY",
        "openai_api_key",
        "apiKey",
        "APIKey",
        "apikey",
        "my-api-key",
        "token",
        "hf_token",
        "accessToken",
        "GITHUB_TOKEN",
        "password",
        "db_password",
        "userPassword",
        "client_secret",
        "AWS_SECRET_ACCESS_KEY",
        "private_key",
        "--wandb-key",
        "Authorization",
        "credentials",
        "passphrase",
        "wandb.api.key",
        "password2",
    ],
)
def test_secrets_are_recognised(name: str) -> None:
    """Common names of secrets, in any spelling."""
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "n_tokens",
        "tokenizer",
        "eos_token",
        "cost_per_token",
        "key",
        "key_map",
        "keys",
        "sort_key",
        "monkey",
        "api_key_env",
        "token_file",
        "password_file",
        "seed",
        "learning_rate",
        "passes",
        "tokens_per_second",
        "credentials_path",
        "42",
        "bypass",
        "-",
    ],
)
def test_ordinary_names_are_not_secrets(name: str) -> None:
    """Parameters of language models, key maps and paths of secret files."""
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    [
        "--api-key=abc",
        "WANDB_API_KEY=abc",
        " password = abc",
        "https://user:pass@host/path",
        "see http://:pass@host",
    ],
)
def test_text_with_a_secret_is_recognised(text: str) -> None:
    """An assignment of a secret, or a URL with a password."""
    assert contains_secret(text)


@pytest.mark.parametrize(
    "text",
    ["--seed=1", "api-key", "--api-key=", "http://host:8080/a@b", "https://host", "a = b", "x:y@z"],
)
def test_ordinary_text_is_not_secret(text: str) -> None:
    """Flags, addresses and prose."""
    assert not contains_secret(text)
