"""Calls about the daemon itself: health, shutdown, secrets and settings."""

from typing import Any

from mosaic.client.api_base import ApiBase
from mosaic.contract.readiness import DaemonHealth
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message, to_message
from mosaic.contract.settings_view import SecretInfo, SecretList, SettingsView, SettingValues


class DaemonApi(ApiBase):
    """Health, shutdown, secrets and settings. The value of a secret cannot be read back."""

    def health(self, *, timeout_s: float = 10.0) -> DaemonHealth:
        """Return version, address, runs by state, free resources and current problems.

        Never retried: this call is how to find out whether a daemon answers.
        """
        answer = self._connection.call(
            lambda stub: stub.GetHealth,
            pb.GetHealthRequest(),
            timeout_s=timeout_s,
            retry_timeout_s=0.0,
        )
        return from_message(answer, DaemonHealth)

    def shutdown(self) -> int:
        """Shut the daemon down and return how many runs it leaves running.

        The next daemon of the same home reattaches to those runs.
        """
        answer = self._connection.call(
            lambda stub: stub.Shutdown, pb.ShutdownRequest(), retry_timeout_s=0.0
        )
        return answer.runs_left_running

    def secrets(self) -> tuple[SecretInfo, ...]:
        """List every secret that a worker requires or that is stored: whether and where it is set.

        The value is not included.
        """
        answer = self._connection.call(lambda stub: stub.ListSecrets, pb.ListSecretsRequest())
        return from_message(answer, SecretList).secrets

    def set_secret(self, name: str, value: str) -> SecretInfo:
        """Store a secret in `secrets.env` of the home, readable only by its owner."""
        request = pb.SetSecretRequest(name=name, value=value)
        return from_message(self._connection.call(lambda stub: stub.SetSecret, request), SecretInfo)

    def remove_secret(self, name: str) -> SecretInfo:
        """Remove a secret from `secrets.env`. It stays set if another source provides it."""
        request = pb.SecretRef(name=name)
        return from_message(
            self._connection.call(lambda stub: stub.RemoveSecret, request), SecretInfo
        )

    def settings(self) -> SettingsView:
        """Return the values in `settings.toml`, those in effect and those that need a restart."""
        answer = self._connection.call(lambda stub: stub.GetSettings, pb.GetSettingsRequest())
        return from_message(answer, SettingsView)

    def change_settings(self, **values: float | None) -> SettingsView:
        """Change settings by the names of `SettingValues`; None restores the default.

        client.change_settings(retention_max_gb=20, port=None)
        """
        given: dict[str, Any] = dict(values)
        request = pb.SetSettingsRequest(
            names=list(given), values=to_message(SettingValues(**given), pb.SettingValues)
        )
        return from_message(
            self._connection.call(lambda stub: stub.SetSettings, request), SettingsView
        )
