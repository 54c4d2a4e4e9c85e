"""SecretsModel: which keys are set and where they come from. No value is ever kept here."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.daemon_settings import SecretInfo
from mosaic.contract.errors import UserError

_TITLES = {
    "WANDB_API_KEY": ("Weights & Biases", "Tracks runs online; from wandb.ai/authorize."),
    "HF_TOKEN": ("Hugging Face", "Uploads models and downloads data sets."),
    "OPENAI_API_KEY": ("OpenAI", "For agents that think with a language model."),
    "ANTHROPIC_API_KEY": ("Anthropic", "For agents that think with a language model."),
}
_SOURCES = {
    "secrets.env": "kept in this home",
    "environment": "from the environment the daemon was started in",
    ".env": "from a .env file",
}


@dataclass(frozen=True, slots=True)
class Secret:
    """One key in words."""

    name: str
    title: str
    purpose: str
    is_set: bool
    where: str
    is_kept: bool
    """It can be removed from here."""


class SecretsModel(QObject):
    """Made by `SettingsModel`."""

    changed = Signal()

    def __init__(
        self, link: TrainerLink, tasks: Tasks, notices: Notices, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self.secrets: tuple[Secret, ...] = ()
        self.is_known = False
        """The daemon has told which there are."""
        self.problems: dict[str, str] = {}
        """What was wrong with a key that could not be kept, by its name."""

    def refresh(self) -> None:
        if self._link.has_client:
            client = self._link.client
            self._tasks.run(self, client.secrets, self._show, lambda _: None)

    def keep(self, name: str, value: str) -> None:
        """Set a key. Its value goes to the daemon, and is forgotten here."""
        client = self._link.client
        self.problems.pop(name, None)
        self._tasks.run(
            self,
            lambda: client.set_secret(name, value),
            lambda told: self._on_done(f"{name} is saved.", told),
            lambda error: self._on_failed(name, error),
        )

    def remove(self, name: str) -> None:
        client = self._link.client
        self._tasks.run(
            self,
            lambda: client.remove_secret(name),
            lambda told: self._on_done(_removed(told), told),
            lambda error: self._on_failed(name, error),
        )

    def _show(self, told: tuple[SecretInfo, ...]) -> None:
        self.is_known = True
        known = list(_TITLES)
        ordered = sorted(
            told, key=lambda each: known.index(each.name) if each.name in known else len(known)
        )
        self.secrets = tuple(_in_words(each) for each in ordered)
        self.changed.emit()

    def _on_done(self, message: str, _told: SecretInfo) -> None:
        self._notices.say(message, tone="good")
        self.refresh()

    def _on_failed(self, name: str, error: UserError) -> None:
        self.problems[name] = f"{error.message} {error.remedy}".strip()
        self.changed.emit()


def _in_words(told: SecretInfo) -> Secret:
    title, purpose = _TITLES.get(told.name, (told.name, ""))
    if told.needed_by:
        purpose = f"{purpose} Used by {', '.join(told.needed_by)}.".strip()
    return Secret(
        name=told.name,
        title=title,
        purpose=purpose,
        is_set=told.is_set,
        where=_SOURCES.get(told.source, told.source),
        is_kept=told.is_kept,
    )


def _removed(told: SecretInfo) -> str:
    if told.is_set:
        return f"{told.name} was removed here, and is still set {_SOURCES[told.source]}."
    return f"{told.name} was removed."
