"""Calls on secrets and settings. No response, error or log line contains a secret's value."""

import asyncio
import logging
import math
import re

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message, to_message
from mosaic.contract.settings_view import SecretInfo, SecretList, SettingsView, SettingValues
from mosaic.trainer.concurrency import run_in_long_thread, run_in_thread, shielded
from mosaic.trainer.daemon_settings import AFTER_RESTART, CHANGEABLE, Number, SettingsFile
from mosaic.trainer.secrets import Secrets
from mosaic.trainer.service.partial_servicer import Context, PartialServicer
from mosaic.trainer.service.request_checks import BadRequestError, checked_lines
from mosaic.trainer.workers.found_worker import FoundWorker

_log = logging.getLogger(__name__)

_NEW_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_ANY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
"""Allowed for a name that was written into the file by hand."""
_MAX_VALUE_LENGTH = 16_384
_COMMON_NAMES = ("WANDB_API_KEY", "HF_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
"""Listed even if no worker needs them yet."""


class SettingsServicer(PartialServicer):
    """Secrets go into `secrets.env`, settings into `settings.toml`, both of the home."""

    _settings_file: SettingsFile
    _settings_lock: asyncio.Lock

    async def ListSecrets(self, _: pb.ListSecretsRequest, _context: Context) -> pb.SecretList:
        # Workers that are not described yet are described now, which takes a moment.
        return to_message(await run_in_long_thread(self._secret_list), pb.SecretList)

    async def SetSecret(self, request: pb.SetSecretRequest, _: Context) -> pb.SecretInfo:
        name, value = _secret_name(request.name, _NEW_NAME), request.value.strip()
        if self._trainer.secrets.is_public(name):
            raise BadRequestError(
                "name",
                f"is {name}, which every worker needs unchanged.",
                "Keys have names such as WANDB_API_KEY.",
            )
        if not value or len(value) > _MAX_VALUE_LENGTH or "\0" in value:
            raise BadRequestError(
                "value",
                "cannot be stored.",
                f"Paste the key again; at most {_MAX_VALUE_LENGTH} characters.",
            )
        return to_message(await shielded(self._change_secret(name, value)), pb.SecretInfo)

    async def RemoveSecret(self, request: pb.SecretRef, _: Context) -> pb.SecretInfo:
        name = _secret_name(request.name, _ANY_NAME)
        return to_message(await shielded(self._change_secret(name, None)), pb.SecretInfo)

    async def GetSettings(self, _: pb.GetSettingsRequest, _context: Context) -> pb.SettingsView:
        return to_message(await run_in_thread(self._view), pb.SettingsView)

    async def SetSettings(self, request: pb.SetSettingsRequest, _: Context) -> pb.SettingsView:
        names = checked_lines("names", request.names, 100)
        values = from_message(request.values, SettingValues)
        return to_message(await shielded(self._change(names, values)), pb.SettingsView)

    async def _change_secret(self, name: str, value: str | None) -> SecretInfo:
        return await run_in_thread(self._change_secret_now, name, value)

    def _change_secret_now(self, name: str, value: str | None) -> SecretInfo:
        secrets = self._trainer.secrets
        if value is None:
            secrets.unset(name)
        else:
            secrets.set(name, value)
        _log.info("T468 secret %s was %s", name, "removed" if value is None else "set")
        return _info(secrets, name, ())

    def _secret_list(self) -> SecretList:
        needed_by: dict[str, list[str]] = {name: [] for name in _COMMON_NAMES}
        catalog, secrets = self._trainer.catalog, self._trainer.secrets
        for name in secrets.stored_names():
            needed_by.setdefault(name, [])
        for worker in catalog.scan():
            if not isinstance(worker, FoundWorker):
                continue
            try:
                credentials = catalog.describe(worker.worker_id).needs.credentials
            except UserError:  # `ListWorkers` reports what is wrong with it
                continue
            for name in credentials:
                needed_by.setdefault(name, []).append(worker.worker_id)
        infos = (_info(secrets, name, tuple(who)) for name, who in sorted(needed_by.items()))
        return SecretList(secrets=tuple(infos))

    async def _change(self, names: tuple[str, ...], values: SettingValues) -> SettingsView:
        async with self._settings_lock:  # the values in force are those written last
            return await run_in_thread(self._change_now, names, values)

    def _change_now(self, names: tuple[str, ...], values: SettingValues) -> SettingsView:
        changes: dict[str, Number | None] = {}
        for name in names:
            if name not in CHANGEABLE:
                raise BadRequestError(
                    "names",
                    "has a setting that cannot be changed.",
                    f"Send any of {', '.join(CHANGEABLE)}.",
                )
            value = changes[name] = _checked(name, getattr(values, name))
            if value is not None and not self._settings_file.is_valid(name, value):
                raise BadRequestError(
                    name, f"cannot be {value}.", "Choose a number within its range."
                )
        self._settings_file.change(changes)
        _log.info("T469 settings were changed: %s", ", ".join(changes))
        self._apply({name: changes[name] for name in changes if name not in AFTER_RESTART})
        return self._view()

    def _apply(self, values: dict[str, Number | None]) -> None:
        """Apply what does not need a restart."""
        trainer = self._trainer
        if values:
            trainer.settings = msgspec.structs.replace(trainer.settings, **values)
            trainer.retention.set_limits(
                trainer.settings.retention_max_gb, trainer.settings.retention_keep_days
            )

    def _view(self) -> SettingsView:
        settings = self._trainer.settings
        return SettingsView(
            stored=self._settings_file.stored(),
            in_force=SettingValues(**{name: getattr(settings, name) for name in CHANGEABLE}),
            after_restart=AFTER_RESTART,
            waiting=self._settings_file.pending(),
            host=settings.host or "",
            tls_certificate=settings.tls_certificate or "",
        )


def _info(secrets: Secrets, name: str, needed_by: tuple[str, ...]) -> SecretInfo:
    source = secrets.source(name)
    return SecretInfo(
        name=name,
        is_set=bool(source),
        source=source,
        is_kept=name in secrets.stored_names(),
        needed_by=needed_by,
    )


def _secret_name(name: str, allowed: re.Pattern[str]) -> str:
    """A valid name. The error does not repeat it: it may be a pasted key."""
    if not allowed.fullmatch(name):
        raise BadRequestError(
            "name",
            "is not a valid name.",
            "Give a name of capital letters, digits and '_' such as WANDB_API_KEY.",
        )
    return name


def _checked(name: str, value: Number | None) -> Number | None:
    if value is not None and not math.isfinite(value):
        raise BadRequestError(name, f"is {value}.", "Send a finite number, or none.")
    return value
