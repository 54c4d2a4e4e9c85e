"""Calls about keys and settings of the daemon."""

from typing import Any

from mosaic.client.call_group import CallGroup
from mosaic.contract.daemon_settings import SecretInfo, SecretList, SettingsView, SettingValues
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message, to_message


class SettingsCalls(CallGroup):
    """A secret can be set and removed; its value cannot be asked for."""

    def secrets(self) -> tuple[SecretInfo, ...]:
        """Every secret that a worker asks for or that is kept: whether it is set, and where."""
        answer = self._connection.call(lambda stub: stub.ListSecrets, pb.ListSecretsRequest())
        return from_message(answer, SecretList).secrets

    def set_secret(self, name: str, value: str) -> SecretInfo:
        """Keep a key in `secrets.env` of the home, readable by its owner alone."""
        request = pb.SetSecretRequest(name=name, value=value)
        return from_message(self._connection.call(lambda stub: stub.SetSecret, request), SecretInfo)

    def remove_secret(self, name: str) -> SecretInfo:
        """Remove a key from `secrets.env`. It is still set when another source has it."""
        request = pb.SecretRef(name=name)
        return from_message(
            self._connection.call(lambda stub: stub.RemoveSecret, request), SecretInfo
        )

    def settings(self) -> SettingsView:
        """What `settings.toml` says, what is in force, and what waits for a restart."""
        answer = self._connection.call(lambda stub: stub.GetSettings, pb.GetSettingsRequest())
        return from_message(answer, SettingsView)

    def change_settings(self, **values: float | None) -> SettingsView:
        """Change settings by the names of `SettingValues`; None: back to the default.

        client.change_settings(retention_max_gb=20, port=None)
        """
        given: dict[str, Any] = dict(values)
        request = pb.SetSettingsRequest(
            names=list(given), values=to_message(SettingValues(**given), pb.SettingValues)
        )
        return from_message(
            self._connection.call(lambda stub: stub.SetSettings, request), SettingsView
        )
