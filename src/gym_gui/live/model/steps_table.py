"""StepsTable: the steps of one episode, by number; or of the newest one, as the run goes on."""

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

import msgspec

from gym_gui.live.feed.csv_export import Batch
from gym_gui.live.feed.table_pages import PAGE_ROWS, Answer, Fetch
from gym_gui.live.model.paged_table import PagedTable
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.actor_text import actor_label
from mosaic.contract.decode import decode
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, StepRecord
from mosaic.envs import catalog

_CSV_ROWS = 2_000
_LONGEST_ACTION = 60
_ARROWS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}
_NO_SUCH_EPISODE = "T378"


class StepColumn(IntEnum):
    STEP = 0
    ACTOR = 1
    ACTION = 2
    REWARD = 3
    END = 4


class StepsTable(PagedTable[StepRecord]):
    """Made by the wiring, once for each place that shows it."""

    HEADINGS = (
        ("step", "Its number in the episode"),
        ("actor", "Who chose the action"),
        ("action", "What was done"),
        ("reward", ""),
        ("end", "Terminated: the environment ended the episode. Truncated: a limit did."),
    )
    RIGHT = (StepColumn.STEP, StepColumn.REWARD)

    episode: int | None = None
    """Whose steps are shown; those of the one before stay until there are any of the next."""
    left_out: int = 0
    """How many steps the episode had, where the worker told of none of them."""
    _wanted: tuple[str, int | None] = ("", None)
    _meanings: tuple[str, ...] = ()

    def show(self, run_id: str, episode: int | None) -> None:
        """The steps of this episode; without one, none."""
        wanted = (run_id if episode is not None else "", episode)
        if wanted == self._wanted and self.problem is None:
            return
        self._wanted = wanted
        if wanted[0] == self.run_id:
            self._turn()
        else:
            self._start_over()

    def take_wanted(self) -> None:
        self.run_id, self.episode = self._wanted

    @property
    def grows_at_the_end(self) -> bool:
        return True

    def make_fetch(self) -> Fetch[StepRecord]:
        client, (run_id, wanted) = self._link.client, self._wanted
        episode = wanted or 0
        run = self._runs.by_id(run_id)
        known_meanings = catalog.environment(run.env_id).action_meanings if run else ()

        def fetch(first: int, count: int) -> Answer[StepRecord]:
            details = client.episode(run_id, episode)
            if self._wanted == (run_id, wanted):
                self._meanings = _meanings_in(details.environment_json) or known_meanings
                self.left_out = _left_out(details.episode)
            found = client.episode_steps(run_id, episode, first, count)
            return _answer(details.episode, found, first, count)

        return fetch

    def text(self, row: StepRecord, column: int) -> str:
        if column == StepColumn.STEP:
            return run_text.integer(row.step)
        if column == StepColumn.ACTOR:
            return actor_label(row.actor) if row.actor else "—"
        if column == StepColumn.ACTION:
            return action_words(row.action, self._meanings)
        if column == StepColumn.REWARD:
            return run_text.number(row.reward)
        return "terminated" if row.terminated else "truncated" if row.truncated else "—"

    def tone(self, row: StepRecord, column: int) -> str:
        if column == StepColumn.ACTOR:
            return "person" if row.actor == "human" else "agent" if row.actor else "muted"
        if column == StepColumn.REWARD and row.reward:
            return "good" if row.reward > 0 else "bad"
        return "muted" if column == StepColumn.END else "text"

    def missing_text(self, number: int, column: int) -> str:
        """A worker that sends samples leaves steps out."""
        if column == StepColumn.STEP:
            return run_text.integer(number)
        return "not recorded" if column == StepColumn.ACTION else ""

    def export_name(self) -> str:
        return f"episode {self.episode or 0} steps"

    def csv_header(self) -> Sequence[str]:
        return ("step", "actor", "action", "reward", "terminated", "truncated", "obs", "info")

    def csv_batches(self) -> Iterable[Batch]:
        client, run_id, episode = self._link.client, self.run_id, self.episode or 0

        def batches() -> Iterator[Batch]:
            first, total = 0, self._total
            while first < total:
                steps = client.episode_steps(run_id, episode, first, _CSV_ROWS)
                yield [_csv_row(step) for step in steps], total
                # One answer may be cut short by its size; a gap is gone past.
                first = steps[-1].step + 1 if steps else first + _CSV_ROWS

        return batches()

    def _on_failed(self, error: UserError) -> None:
        # An episode that is just beginning has no step yet.
        if error.code != _NO_SUCH_EPISODE or not self.is_live:
            super()._on_failed(error)


def _answer(
    episode: EpisodeRollup, found: Sequence[StepRecord], first: int, count: int
) -> Answer[StepRecord]:
    """A row for each number; of several agents' steps of one number, the first that came."""
    if _left_out(episode):
        return Answer([], 0, is_settled=True)
    told = episode.steps if episode.reported_steps is None else episode.reported_steps
    total = max(told, found[-1].step + 1 if found else 0)
    rows: list[StepRecord | None] = [None] * max(0, min(count, total - first))
    for step in found:
        rows[step.step - first] = rows[step.step - first] or step
    return Answer(rows, total, episode.is_over or len(found) >= PAGE_ROWS)


def _left_out(episode: EpisodeRollup) -> int:
    """A worker may tell the length of an episode, and nothing of what happened in it."""
    is_told = episode.is_over and not episode.steps
    return (episode.reported_steps or 0) if is_told else 0


def _meanings_in(environment_json: bytes | None) -> tuple[str, ...]:
    """By the environment itself, which knows better than the catalog."""
    event = None if environment_json is None else decode(environment_json)
    return tuple(event.action_meanings or ()) if isinstance(event, EnvironmentEvent) else ()


def action_words(action: object, meanings: Sequence[str]) -> str:
    """With its meaning, where the environment says what it is."""
    if isinstance(action, int) and not isinstance(action, bool) and 0 <= action < len(meanings):
        meaning = meanings[action].lower()
        return f"{_ARROWS.get(meaning, action)} {meaning}"
    if isinstance(action, float):
        return run_text.number(action)
    if isinstance(action, list) and all(isinstance(part, int | float) for part in action):
        shown = ", ".join(run_text.number(float(part)) for part in action[:8])
        return f"[{shown}{', …' if len(action) > len(action[:8]) else ''}]"
    text = str(action)
    return text if len(text) <= _LONGEST_ACTION else text[:_LONGEST_ACTION] + "…"


def _csv_row(step: StepRecord) -> Sequence[object]:
    plain = (step.step, step.actor, _json(step.action), step.reward)
    return (*plain, step.terminated, step.truncated, _json(step.obs), _json(step.info))


def _json(value: object) -> object:
    if value is None or isinstance(value, int | float | str):
        return value
    return msgspec.json.encode(value).decode()
