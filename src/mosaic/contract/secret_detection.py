"""Recognises secrets by their names, so that none is ever stored.

API keys reach a worker through its environment; a configuration that contains one is rejected.
A name that says where a secret is stored (`api_key_env`, `token_file`) is not a secret.
"""

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_SECRETS = frozenset(
    {"password", "passwd", "passphrase", "pwd", "secret", "secrets", "apikey", "credential"}
    | {"credentials", "authorization", "bearer", "cookie"}
)
_KEY_OWNERS = frozenset(
    {"api", "access", "account", "auth", "encryption", "private", "secret", "service", "signing"}
    | {"ssh", "anthropic", "aws", "azure", "gemini", "google", "hf", "huggingface", "llm"}
    | {"mistral", "openai", "openrouter", "wandb"}
)
_VOCABULARY_TOKENS = frozenset(
    {"bos", "cls", "end", "eos", "mask", "pad", "per", "sep", "special", "start", "stop", "unk"}
)
_REFERENCES = frozenset(
    {"env", "file", "path", "var", "variable", "variables", "name", "names", "length", "required"}
)
_ASSIGNMENT = re.compile(r"\s*-{0,2}(?P<name>[A-Za-z][\w.-]*)\s*=\s*\S")
# Starts with a literal, so that matching is linear in the length of malicious input.
_URL_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")


def is_secret_name(name: str) -> bool:
    """Return whether values with this name are secret (`WANDB_API_KEY`, `hfToken` …)."""
    tokens = [token.lower() for token in _WORD.findall(name)]
    if not tokens or tokens[-1] in _REFERENCES:
        return False
    if any(token in _SECRETS or token.endswith(("apikey", "password")) for token in tokens):
        return True
    owner = tokens[-2] if len(tokens) > 1 else ""
    if tokens[-1] == "token":
        return owner not in _VOCABULARY_TOKENS
    return tokens[-1] == "key" and owner in _KEY_OWNERS


def contains_secret(text: str) -> bool:
    """Return whether the text contains a secret: `--api-key=…`, or a URL with a password."""
    assignment = _ASSIGNMENT.match(text)
    if assignment and is_secret_name(assignment["name"]):
        return True
    return _URL_WITH_PASSWORD.search(text) is not None
