"""Telling a secret by its name, so that none is ever stored.

Keys reach a worker through its environment; a configuration that holds one is refused.
A name that says where a secret is kept (`api_key_env`, `token_file`) is not a secret.
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
_PLACES = frozenset(
    {"env", "file", "path", "var", "variable", "variables", "name", "names", "length", "required"}
)
_ASSIGNMENT = re.compile(r"\s*-{0,2}(?P<name>[A-Za-z][\w.-]*)\s*=\s*\S")
# Begins with a literal, so that it stays linear in the length of a hostile text.
_URL_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")


def names_a_secret(name: str) -> bool:
    """Whether a value under this name is meant to be secret (`WANDB_API_KEY`, `hfToken` …)."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _PLACES:
        return False
    if any(word in _SECRETS or word.endswith(("apikey", "password")) for word in words):
        return True
    owner = words[-2] if len(words) > 1 else ""
    if words[-1] == "token":
        return owner not in _VOCABULARY_TOKENS
    return words[-1] == "key" and owner in _KEY_OWNERS


def holds_a_secret(text: str) -> bool:
    """Whether the text itself gives one away: `--api-key=…`, or an address with a password."""
    assignment = _ASSIGNMENT.match(text)
    if assignment and names_a_secret(assignment["name"]):
        return True
    return _URL_WITH_PASSWORD.search(text) is not None
