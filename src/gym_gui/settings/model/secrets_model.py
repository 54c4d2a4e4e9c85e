"""SecretsModel: which keys are set, and their source. Values are never stored here."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.services import Services
from mosaic.contract.errors import UserError
from mosaic.contract.settings_view import SecretInfo

_TITLES = {
    "WANDB_API_KEY": ("Weights & Biases", "Tracks runs online; see wandb.ai/authorize."),
    "HF_TOKEN": ("Hugging Face", "Uploads models and downloads datasets."),
    "OPENAI_API_KEY": ("OpenAI", "For agents that use a language model."),
    "ANTHROPIC_API_KEY": ("Anthropic", "For agents that use a language model."),
}
_SOURCES = {
    "secrets.env": "stored in this home",
    "environment": "from the environment of the daemon",
    ".env": "from a .env file",
}


@dataclass(frozen=True, slots=True)
class Secret:
    """Display data of one key."""

    name: str
    title: str
    purpose: str
    is_set: bool
    where: str
    is_stored: bool
    """Whether it is stored in this home and can be removed."""


class SecretsModel(QObject):
    """Created by `SettingsModel`."""

    changed = Signal()

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self.secrets: tuple[Secret, ...] = ()
        self.is_known = False
        """Whether the daemon has reported the keys."""
        self.problems: dict[str, str] = {}
        """Errors of rejected keys, by name."""

    def refresh(self) -> None:
        if self._services.link.has_client:
            client = self._services.link.client
            self._services.tasks.run(self, client.secrets, self._show, lambda _: None)

    def set_secret(self, name: str, value: str) -> None:
        """Send a key to the daemon. The value is not stored here."""
        self.problems.pop(name, None)
        self._services.call(
            self,
            lambda client: client.set_secret(name, value),
            lambda info: self._on_done(f"{name} was saved.", info),
            lambda error: self._on_failed(name, error),
        )

    def remove(self, name: str) -> None:
        self._services.call(
            self,
            lambda client: client.remove_secret(name),
            lambda info: self._on_done(_removed(info), info),
            lambda error: self._on_failed(name, error),
        )

    def _show(self, infos: tuple[SecretInfo, ...]) -> None:
        self.is_known = True
        known = list(_TITLES)
        ordered = sorted(
            infos,
            key=lambda info: known.index(info.name) if info.name in known else len(known),
        )
        self.secrets = tuple(_to_secret(info) for info in ordered)
        self.changed.emit()

    def _on_done(self, message: str, _info: SecretInfo) -> None:
        self._services.notices.post(message, tone="good")
        self.refresh()

    def _on_failed(self, name: str, error: UserError) -> None:
        self.problems[name] = f"{error.message} {error.remedy}".strip()
        self.changed.emit()


def _to_secret(info: SecretInfo) -> Secret:
    title, purpose = _TITLES.get(info.name, (info.name, ""))
    if info.needed_by:
        purpose = f"{purpose} Used by {', '.join(info.needed_by)}.".strip()
    return Secret(
        name=info.name,
        title=title,
        purpose=purpose,
        is_set=info.is_set,
        where=_SOURCES.get(info.source, info.source),
        is_stored=info.is_kept,
    )


def _removed(info: SecretInfo) -> str:
    if info.is_set:
        return f"{info.name} was removed from this home, but is still set {_SOURCES[info.source]}."
    return f"{info.name} was removed."
