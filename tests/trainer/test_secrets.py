"""Secrets are passed to the workers that need them and redacted in all text."""

import json
import logging
import os
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.trainer.secrets import RedactingFilter, Secrets

KEY = "0123456789abcdef"
OpenSecrets = Callable[..., Secrets]


def config(**wandb: Any) -> TrainRunConfig:
    document: dict[str, Any] = {"worker": "w", "algo": "a", "env_id": "E-v1"}
    return load_run_config(document | ({"artifacts": {"wandb": wandb}} if wandb else {}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "var")
    home.trainer.mkdir(parents=True)
    return home


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    return folder


@pytest.fixture
def secrets_with(home: Home, checkout: Path) -> OpenSecrets:
    """Open the secrets of a home with the given environment variables."""
    return lambda **environ: Secrets(home, checkout, environ=environ)


def write_secrets(home: Home, text: str) -> None:
    home.secrets.write_text(text)
    home.secrets.chmod(0o600)


def test_precedence_of_sources(home: Home, checkout: Path, secrets_with: OpenSecrets) -> None:
    """secrets.env, then the environment, then the home's .env, then the checkout's .env."""
    (checkout / ".env").write_text(
        "A_API_KEY=checkout\nB_API_KEY=checkout\nC_API_KEY=checkout\nD_API_KEY=d"
    )
    (home.path / ".env").write_text("A_API_KEY=home\nB_API_KEY=home\nC_API_KEY=home\n")
    write_secrets(home, "A_API_KEY=own\n")
    secrets = secrets_with(B_API_KEY="environment", D_API_KEY="")
    names = ["A_API_KEY", "B_API_KEY", "C_API_KEY", "D_API_KEY"]
    assert secrets.for_worker(config(), names) == {
        "A_API_KEY": "own",
        "B_API_KEY": "environment",
        "C_API_KEY": "home",
        "D_API_KEY": "d",
    }


def test_a_worker_gets_only_the_requested_secrets(home: Home, secrets_with: OpenSecrets) -> None:
    """Other secrets are not passed."""
    write_secrets(home, f"OPENAI_API_KEY={KEY}\nWANDB_API_KEY=other-key\n")
    assert secrets_with().for_worker(config(), ["OPENAI_API_KEY", "ABSENT_KEY"]) == {
        "OPENAI_API_KEY": KEY
    }


@pytest.mark.parametrize(
    ("wandb", "passed"),
    [
        ({}, False),
        ({"enabled": False}, False),
        ({"enabled": True}, True),
        ({"enabled": True, "mode": "offline"}, True),
        ({"enabled": True, "mode": "disabled"}, False),
    ],
)
def test_wandb_variables_are_passed_to_runs_that_track(
    home: Home, secrets_with: OpenSecrets, wandb: dict[str, Any], passed: bool
) -> None:
    """All WANDB_* variables are passed unchanged, only if tracking is enabled."""
    wandb_variables = {
        "WANDB_API_KEY": KEY,
        "WANDB_ENTITY": "team",
        "WANDB_VPN_HTTPS_PROXY": "http://user:pa55word@vpn:8080",
    }
    lines = "".join(f"{name}='{value}'\n" for name, value in wandb_variables.items())
    (home.path / ".env").write_text(f"{lines}OTHER_API_KEY=x\n")
    assert secrets_with().for_worker(config(**wandb), []) == (wandb_variables if passed else {})


def test_secrets_are_removed_from_an_environment(home: Home, secrets_with: OpenSecrets) -> None:
    """Names and values that look secret, and stored secrets, are removed."""
    write_secrets(home, "PLAIN_NAME=stored as a secret\n")
    environ = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
        "WANDB_API_KEY": KEY,
        "GITHUB_TOKEN": "t",
        "DB_PASSWORD": "p",
        "HTTPS_PROXY": "http://me:secret@proxy:3128",
        "WANDB_VPN_HTTP_PROXY": "http://vpn:1",
        "PLAIN_NAME": "v",
    }
    assert secrets_with().without_secrets(environ) == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
    }


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_file_readable_by_others_is_rejected(
    home: Home, secrets_with: OpenSecrets, mode: int
) -> None:
    """It is not used; the problem has a remedy and does not contain the value."""
    write_secrets(home, f"WANDB_API_KEY={KEY}\n")
    home.secrets.chmod(mode)
    secrets = secrets_with()
    assert not secrets.has("WANDB_API_KEY")
    (problem,) = secrets.problems()
    assert "T341" in problem
    assert "chmod 600" in problem
    assert KEY not in problem
    with pytest.raises(UserError, match="T341"):
        secrets.set("OTHER_KEY", "value")


def test_the_file_is_used_as_soon_as_it_is_private(home: Home, secrets_with: OpenSecrets) -> None:
    """No restart is needed after changing the mode."""
    write_secrets(home, f"WANDB_API_KEY={KEY}\n")
    home.secrets.chmod(0o644)
    secrets = secrets_with()
    assert not secrets.has("WANDB_API_KEY")
    home.secrets.chmod(0o600)
    assert secrets.has("WANDB_API_KEY")
    assert secrets.problems() == ()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"A_KEY=\xff\xfe", "T344"),
        (b"x" * (2 << 20), "T344"),
        (b"A_KEY=fine\n'no value\nB_KEY=fine\n", "T345"),
    ],
)
def test_an_invalid_file_is_a_problem(
    home: Home, secrets_with: OpenSecrets, content: bytes, code: str
) -> None:
    """An invalid .env raises no error; the problem names the file."""
    (home.path / ".env").write_bytes(content)
    (problem,) = secrets_with().problems()
    assert problem.startswith(code)
    assert ".env" in problem


def test_a_folder_instead_of_a_file_is_a_problem(home: Home, secrets_with: OpenSecrets) -> None:
    """No error is raised, so that the daemon can start."""
    (home.path / ".env").mkdir()
    assert "T344" in secrets_with().problems()[0]


def test_dollar_signs_are_not_expanded(home: Home, secrets_with: OpenSecrets) -> None:
    """A value may contain dollar signs."""
    (home.path / ".env").write_text('X_TOKEN="a$HOME${PATH}b"\n')
    assert secrets_with(HOME="/h").for_worker(config(), ["X_TOKEN"]) == {
        "X_TOKEN": "a$HOME${PATH}b"
    }


def test_the_file_is_readable_by_its_owner_only(home: Home, secrets_with: OpenSecrets) -> None:
    """Setting a secret uses mode 0600 and preserves comments and other values."""
    write_secrets(home, "# my keys\nexport A_KEY=one  # first\nB_KEY='two'")
    secrets = secrets_with()
    secrets.set("WANDB_API_KEY", KEY)
    secrets.set("B_KEY", "three")
    assert home.secrets.stat().st_mode & 0o777 == 0o600
    text = home.secrets.read_text()
    assert text.startswith("# my keys\nexport A_KEY=one  # first\n")
    assert secrets.for_worker(config(), ["A_KEY", "B_KEY", "WANDB_API_KEY"]) == {
        "A_KEY": "one",
        "B_KEY": "three",
        "WANDB_API_KEY": KEY,
    }
    secrets.unset("B_KEY")
    secrets.unset("NEVER_SET")
    assert secrets.names() == ("A_KEY", "WANDB_API_KEY")


def test_the_first_secret_creates_the_file(tmp_path: Path) -> None:
    """Also in a missing home, with mode 0600 for any umask."""
    home = Home(tmp_path / "new")
    old = os.umask(0)
    try:
        Secrets(home, None, environ={}).set("A_KEY", "value")
    finally:
        os.umask(old)
    assert home.secrets.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["", "A=B", "A B", "A\nB_KEY", "1A", "ä"])
def test_an_invalid_variable_name_is_rejected(secrets_with: OpenSecrets, name: str) -> None:
    """A name cannot inject lines into the file."""
    with pytest.raises(UserError, match="T342"):
        secrets_with().set(name, "value")


def test_an_invalid_variable_value_is_rejected(secrets_with: OpenSecrets) -> None:
    """A NUL byte is not allowed; the error does not contain the value."""
    with pytest.raises(UserError, match="T343") as caught:
        secrets_with().set("A_KEY", f"{KEY}\0")
    assert KEY not in str(caught.value)


@given(value=st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"])))
def test_any_value_is_stored_exactly(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    """Including quotes, backslashes, newlines and any script."""
    home = Home(tmp_path_factory.mktemp("home"))
    secrets = Secrets(home, None, environ={})
    secrets.set("FIRST_KEY", "first")
    secrets.set("A_KEY", value)
    secrets.set("LAST_KEY", "last")
    expected = {"FIRST_KEY": "first", "LAST_KEY": "last"} | ({"A_KEY": value} if value else {})
    assert secrets.for_worker(config(), ["FIRST_KEY", "A_KEY", "LAST_KEY"]) == expected


def test_a_changed_file_is_read_again(home: Home, secrets_with: OpenSecrets) -> None:
    """No restart is needed after editing or deleting the file."""
    secrets = secrets_with()
    assert not secrets.has("A_KEY")
    write_secrets(home, "A_KEY=one\n")
    assert secrets.has("A_KEY")
    home.secrets.unlink()
    assert not secrets.has("A_KEY")


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"Authorization: Bearer {KEY}",
        json.dumps({"key": KEY}),
        f"two: {KEY}{KEY}",
    ],
)
def test_a_known_value_is_redacted(home: Home, secrets_with: OpenSecrets, text: str) -> None:
    """The replacement names the secret."""
    write_secrets(home, f"WANDB_API_KEY={KEY}\n")
    redacted = secrets_with().redact(text)
    assert KEY not in redacted
    assert "[secret WANDB_API_KEY]" in redacted


def test_encoded_values_are_redacted(secrets_with: OpenSecrets) -> None:
    """In JSON, repr and URL encoding, single lines of it, and the password of a URL."""
    proxy = "http://user:p%40ss-word@proxy:3128"
    lines = 'first "line" / part\nsecond line ü'
    secrets = secrets_with(A_SECRET=lines, HTTPS_PROXY=proxy, SHORT_KEY="abc")
    for text in (
        repr(lines),
        json.dumps(lines),
        json.dumps(lines, ensure_ascii=False),
        "first%20%22line%22%20%2F%20part%0Asecond%20line%20%C3%BC",
        f"output:\n  {lines.splitlines()[1]}",
    ):
        assert "line" not in secrets.redact(text), text
    assert "p%40ss" not in secrets.redact(f"connecting to {proxy}/path")
    assert "p@ss" not in secrets.redact("password p@ss-word rejected")
    assert secrets.redact("the abc of it") == "the abc of it"


def test_a_value_that_contains_another_is_replaced_completely(secrets_with: OpenSecrets) -> None:
    """No suffix of the longer value is left."""
    secrets = secrets_with(A_API_KEY="prefix", B_API_KEY="prefix-and-more")
    assert secrets.redact("x prefix-and-more prefix") == "x [secret B_API_KEY] [secret A_API_KEY]"


def test_an_old_value_is_still_redacted(secrets_with: OpenSecrets) -> None:
    """A worker that was started with the old value may still print it."""
    secrets = secrets_with()
    secrets.set("A_KEY", "old-value")
    secrets.set("A_KEY", "new-value")
    assert secrets.redact("old-value new-value") == "[secret A_KEY] [secret A_KEY]"


def test_any_value_passed_to_a_worker_is_redacted(secrets_with: OpenSecrets) -> None:
    """Even if its name does not look like a secret."""
    secrets = secrets_with(MY_LOGIN="hunter22")
    assert secrets.redact("hunter22") == "hunter22"
    secrets.for_worker(config(), ["MY_LOGIN"])
    assert secrets.redact("hunter22") == "[secret MY_LOGIN]"


def logged(secrets: Secrets, write: Callable[[logging.Logger], None]) -> str:
    output = StringIO()
    handler = logging.StreamHandler(output)
    handler.addFilter(RedactingFilter(secrets.redact))
    logger = logging.getLogger("tests.secrets")
    logger.addHandler(handler)
    try:
        write(logger)
    finally:
        logger.removeHandler(handler)
    return output.getvalue()


def fail(logger: logging.Logger) -> None:
    try:
        int(f"not a number {KEY}")
    except ValueError:
        logger.exception("T999 failed with %s", KEY, stack_info=True)


@pytest.mark.parametrize(
    "write",
    [
        lambda logger: logger.warning("key %s", KEY),
        lambda logger: logger.warning("key %(k)s", {"k": KEY}),
        lambda logger: logger.warning(f"key {KEY}"),  # noqa: G004 - f-strings must be redacted, too
        lambda logger: logger.warning(ValueError(KEY)),
        lambda logger: logger.warning("too few: %s %s", KEY),  # noqa: PLE1206 - on purpose
        fail,
    ],
)
def test_a_log_contains_no_secret(
    secrets_with: OpenSecrets, write: Callable[[logging.Logger], None]
) -> None:
    """In arguments, invalid format strings, tracebacks and stacks."""
    text = logged(secrets_with(WANDB_API_KEY=KEY), write)
    assert KEY not in text
    assert "[secret WANDB_API_KEY]" in text


def test_a_redacted_traceback_is_readable(secrets_with: OpenSecrets) -> None:
    """Only the value is replaced."""
    text = logged(secrets_with(WANDB_API_KEY=KEY), fail)
    assert "'not a number [secret WANDB_API_KEY]'" in text
    assert "in fail" in text


def test_logging_with_an_invalid_file_does_not_hang(home: Home, secrets_with: OpenSecrets) -> None:
    """Reading an invalid file for redaction must not log."""
    (home.path / ".env").write_text("'broken\n")
    secrets = secrets_with()
    handler = logging.StreamHandler(StringIO())
    handler.addFilter(RedactingFilter(secrets.redact))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        writer = threading.Thread(target=root.warning, args=("hello",), daemon=True)
        writer.start()
        writer.join(30)
        assert not writer.is_alive()
    finally:
        root.removeHandler(handler)


def test_encodings_of_earlier_values_are_known(home: Home, secrets_with: OpenSecrets) -> None:
    """`spellings` has the encodings that `redact` replaces, and is cached."""
    write_secrets(home, "A_API_KEY='quote\"d key'\n")
    secrets = secrets_with()
    before = secrets.spellings()
    forms = {'quote"d key', 'quote\\"d key', "quote%22d%20key"}
    assert forms <= before.keys()
    assert set(before.values()) == {"A_API_KEY"}
    (home.path / ".env").write_text("PLAIN=not-a-secret\n")
    assert secrets.spellings() is before
    secrets.set("A_API_KEY", "another-key")
    assert forms | {"another-key"} <= secrets.spellings().keys()


def test_a_value_that_is_not_utf8(secrets_with: OpenSecrets) -> None:
    """A value from the environment may contain any bytes."""
    key = os.fsdecode(b"key-\xff\xfe-key")
    secrets = secrets_with(A_API_KEY=key)
    assert secrets.redact(f"it is {key}") == "it is [secret A_API_KEY]"
