"""Settings and secrets of a daemon, as clients see them. Secret values are never sent.

`mosaic.trainer.daemon_settings` has the defaults. The messages of the same names in
`proto/trainer.proto` have the same fields.
"""

import msgspec


class SecretInfo(msgspec.Struct, kw_only=True, frozen=True):
    """Whether a secret is set, and where it comes from."""

    name: str
    is_set: bool = False
    source: str = ""
    """The source in use: `secrets.env`, `environment` or `.env`; empty: not set."""
    is_kept: bool = False
    """Stored in `secrets.env`, from which it can be removed."""
    needed_by: tuple[str, ...] = ()
    """Ids of the workers that need it."""


class SecretList(msgspec.Struct, kw_only=True, frozen=True):
    """Every known secret, sorted by name."""

    secrets: tuple[SecretInfo, ...] = ()


class SettingValues(msgspec.Struct, kw_only=True, frozen=True):
    """Settings that can be changed while the daemon runs; None: the default."""

    retention_max_gb: float | None = None
    retention_keep_days: float | None = None
    max_runs: int | None = None
    min_free_disk_mb: int | None = None
    port: int | None = None
    cpus: int | None = None
    memory_mb: int | None = None
    stop_grace_s: float | None = None


class SettingsView(msgspec.Struct, kw_only=True, frozen=True):
    """The settings in `settings.toml` and the values in use."""

    stored: SettingValues = SettingValues()
    in_force: SettingValues = SettingValues()
    after_restart: tuple[str, ...] = ()
    """Names of settings that take effect after a daemon restart."""
    waiting: tuple[str, ...] = ()
    """Names of those that have changed since the daemon started."""
    host: str = ""
    tls_certificate: str = ""
    """Path of the PEM file; empty: no TLS."""
