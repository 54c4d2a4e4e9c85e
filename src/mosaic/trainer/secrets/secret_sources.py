"""Sources of secrets, and which of them a worker gets.

The first source that has a name decides: `secrets.env` in the home (written by the window's
settings), the daemon's own environment, `.env` in the home, `.env` in the checkout.
`mosaic.contract.secret_detection` decides which names and texts are secret.
"""

import os
import threading
from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path

from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.secret_detection import contains_secret, is_secret_name
from mosaic.trainer.secrets.redaction import Redactor
from mosaic.trainer.secrets.secret_files import (
    FileContent,
    Signature,
    read_env_file,
    set_value,
    signature,
)

_WANDB = "WANDB_"
_WANDB_VPN = "WANDB_VPN_"
_FOLDERS = ("PWD", "OLDPWD")
"""Set by every shell to a folder; not passwords."""
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class Secrets:
    """Reads files again when they change. Safe from any thread."""

    def __init__(
        self, home: Home, checkout: Path | None, *, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._own_file = home.secrets
        env_files = [home.path / ".env", *([checkout / ".env"] if checkout else [])]
        self._files = (self._own_file, *env_files)
        self._environ = environ
        self._lock = threading.Lock()
        self._requested: frozenset[str] = frozenset()
        self._seen: tuple[Signature, ...] | None = None
        self._contents: tuple[FileContent, ...] = ()
        self._merged: Mapping[str, str] = {}
        # Including earlier values: a worker that was given an old key may still print it.
        self._ever_secret: set[tuple[str, str]] = set()
        self._redactor = Redactor(())

    def for_worker(self, config: TrainRunConfig, credentials: Sequence[str]) -> dict[str, str]:
        """Only what this run needs: the credentials that its worker declares, and when it tracks
        with W&B every `WANDB_*` and the proxies, whose URLs may contain a password.

        `WANDB_VPN_*` are passed unchanged. They take effect only in a run whose configuration
        names a proxy, because the worker reads them.
        """
        requested = frozenset(credentials)
        with self._lock:
            if not requested <= self._requested:
                self._requested |= requested
                self._seen = None  # read again, so that their values are redacted from now on
            values = self._values()
        wandb = config.artifacts.wandb
        tracks = wandb.enabled and wandb.mode != "disabled"
        return {
            name: value
            for name, value in values.items()
            if name in requested or (tracks and (name.startswith(_WANDB) or name in _PROXIES))
        }

    def without_secrets(self, environ: Mapping[str, str]) -> dict[str, str]:
        """`environ` without secrets: what every worker may have."""
        with self._lock:
            self._values()
            return {
                name: value for name, value in environ.items() if not self._is_secret(name, value)
            }

    def has(self, name: str) -> bool:
        with self._lock:
            return name in self._values()

    def names(self) -> tuple[str, ...]:
        """The names of the secrets that are set, sorted."""
        with self._lock:
            values = self._values()
            return tuple(sorted(name for name in values if self._is_secret(name, values[name])))

    def source(self, name: str) -> str:
        """The source of the effective value; empty when the name is not set."""
        with self._lock:
            self._values()
            own, *others = self._contents
            if name in own.values:
                return self._own_file.name
            if self._environ.get(name):
                return "environment"
            return ".env" if any(name in content.values for content in others) else ""

    def is_public(self, name: str) -> bool:
        """Whether workers have it in their environment, like PATH: stored as a secret, it would be
        removed from there."""
        with self._lock:
            self._values()
            value = self._environ.get(name)
            if value is None or name.startswith(_WANDB):
                return False  # passed to runs that track, from any source
            return not self._is_secret(name, value)

    def stored_names(self) -> tuple[str, ...]:
        """The names in `secrets.env`."""
        with self._lock:
            self._values()
            return tuple(sorted(self._contents[0].values))

    def set(self, name: str, value: str) -> None:
        """Store a secret in `secrets.env`, readable by its owner only."""
        self._change(name, value)

    def unset(self, name: str) -> None:
        """Remove a secret from `secrets.env`. Other sources may still have it."""
        self._change(name, None)

    def redact(self, text: str) -> str:
        """`text` with every known secret of six characters or more replaced by "[secret NAME]"."""
        with self._lock:
            self._values()
            redactor = self._redactor
        return redactor.redact(text)

    def spellings(self) -> Mapping[str, str]:
        """Every text that `redact` replaces, mapped to the name of its secret; earlier values too.

        Returns the same object until they change.
        """
        with self._lock:
            self._values()
            return self._redactor.spellings

    def problems(self) -> tuple[str, ...]:
        """Files that cannot be used, each with its remedy."""
        with self._lock:
            self._values()
            return tuple(str(content.problem) for content in self._contents if content.problem)

    def _change(self, name: str, value: str | None) -> None:
        with self._lock:
            set_value(self._own_file, name, value)
            self._values()  # remembers it, in case it is replaced before the next read

    def _values(self) -> Mapping[str, str]:
        """Every value of every source, read again if a file has changed."""
        now = tuple(signature(path) for path in self._files)
        if now != self._seen:
            self._contents = tuple(
                read_env_file(path, private=path == self._own_file) for path in self._files
            )
            own, *others = (content.values for content in self._contents)
            set_here = {name: value for name, value in self._environ.items() if value}
            self._merged = ChainMap(*(dict(it) for it in (own, set_here, *others)))
            self._remember_secrets()
            self._seen = now
        return self._merged

    def _remember_secrets(self) -> None:
        for source in (self._environ, *(content.values for content in self._contents)):
            self._ever_secret |= {
                (name, value)
                for name, value in source.items()
                if name in self._requested or self._is_secret(name, value)
            }
        redactor = Redactor(sorted(self._ever_secret))
        if redactor.spellings != self._redactor.spellings:
            self._redactor = redactor

    def _is_secret(self, name: str, value: str) -> bool:
        return (
            name in self._contents[0].values  # everything stored there is secret
            or name.startswith(_WANDB_VPN)
            or (is_secret_name(name) and name not in _FOLDERS)
            or contains_secret(value)
        )
