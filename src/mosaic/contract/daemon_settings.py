"""Settings and keys of a daemon, as clients see them. A secret is a name, never a value.

The messages of the same names in `proto/trainer.proto` have the same fields.
"""

import msgspec


class SecretInfo(msgspec.Struct, kw_only=True, frozen=True):
    """Whether a secret is there, and where it comes from."""

    name: str
    is_set: bool = False
    source: str = ""
    """The one that counts: `secrets.env`, `environment` or `.env`; empty: not set."""
    is_kept: bool = False
    """It is in `secrets.env`, and can be removed from there."""
    needed_by: tuple[str, ...] = ()
    """Ids of workers that ask for it."""


class SecretList(msgspec.Struct, kw_only=True, frozen=True):
    """Every secret that is known by name, in order of name."""

    secrets: tuple[SecretInfo, ...] = ()


class SettingValues(msgspec.Struct, kw_only=True, frozen=True):
    """The settings that can be changed while a daemon runs; None: its default."""

    retention_max_gb: float | None = None
    retention_keep_days: float | None = None
    max_runs: int | None = None
    min_free_disk_mb: int | None = None
    port: int | None = None
    cpus: int | None = None
    memory_mb: int | None = None
    stop_grace_s: float | None = None


class SettingsView(msgspec.Struct, kw_only=True, frozen=True):
    """What `settings.toml` says, and what the daemon goes by."""

    stored: SettingValues = SettingValues()
    in_force: SettingValues = SettingValues()
    after_restart: tuple[str, ...] = ()
    """Names that take effect when the daemon starts again."""
    waiting: tuple[str, ...] = ()
    """Those of them that were changed since it started."""
    host: str = ""
    tls_certificate: str = ""
    """A file; empty: no TLS."""
