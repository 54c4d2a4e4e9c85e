"""StepsTable: table model of the steps of one episode."""

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum

import msgspec

from gym_gui.live.feed.csv_export import Batch
from gym_gui.live.feed.table_pages import PAGE_ROWS, Fetch, Page
from gym_gui.live.model.paged_table import PagedTable
from gym_gui.runtime.models.formatting import format_decimal, format_integer
from gym_gui.runtime.models.run_text import actor_label
from gym_gui.runtime.models.table_model import Column
from mosaic.contract.decode import decode
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, StepRecord
from mosaic.envs import catalog

_CSV_ROWS = 2_000
_MAX_ACTION_LENGTH = 60
_ARROWS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}
_NO_SUCH_EPISODE = "T378"


class StepColumn(IntEnum):
    STEP = 0
    ACTOR = 1
    ACTION = 2
    REWARD = 3
    END = 4


class StepsTable(PagedTable[StepRecord]):
    """Owned by `LiveModel`."""

    COLUMNS = (
        Column("step", "Step number in the episode", is_number=True),
        Column("actor", "Actor that selected the action"),
        Column("action"),
        Column("reward", is_number=True),
        Column("end", "Terminated by the environment, or truncated by a limit"),
    )

    episode: int | None = None
    """The displayed episode; changes once the first steps of the requested one are loaded."""
    unrecorded_steps: int = 0
    """The length of an episode whose steps the worker did not report."""
    _requested: tuple[str, int | None] = ("", None)
    _meanings: tuple[str, ...] = ()

    def show(self, run_id: str, episode: int | None) -> None:
        """Show the steps of an episode; None shows none."""
        requested = (run_id if episode is not None else "", episode)
        if requested == self._requested and self.problem is None:
            return
        self._requested = requested
        if requested[0] == self.run_id:
            self._replace()
        else:
            self._reload()

    def apply_request(self) -> None:
        self.run_id, self.episode = self._requested

    @property
    def appends_rows(self) -> bool:
        return True

    def make_fetch(self) -> Fetch[StepRecord]:
        client, (run_id, requested) = self._services.link.client, self._requested
        episode = requested or 0
        run = self._runs.by_id(run_id)
        catalog_meanings = catalog.environment(run.env_id).action_meanings if run else ()

        def fetch(first: int, count: int) -> Page[StepRecord]:
            details = client.episode(run_id, episode)
            if self._requested == (run_id, requested):
                self._meanings = _reported_meanings(details.environment_json) or catalog_meanings
                self.unrecorded_steps = _unrecorded_steps(details.episode)
            steps = client.episode_steps(run_id, episode, first, count)
            return _make_page(details.episode, steps, first, count)

        return fetch

    def text(self, row: StepRecord, column: int) -> str:
        if column == StepColumn.STEP:
            return format_integer(row.step)
        if column == StepColumn.ACTOR:
            return actor_label(row.actor) if row.actor else "—"
        if column == StepColumn.ACTION:
            return _action_text(row.action, self._meanings)
        if column == StepColumn.REWARD:
            return format_decimal(row.reward)
        return "terminated" if row.terminated else "truncated" if row.truncated else "—"

    def tone(self, row: StepRecord, column: int) -> str:
        if column == StepColumn.ACTOR:
            return "person" if row.actor == "human" else "agent" if row.actor else "muted"
        if column == StepColumn.REWARD and row.reward:
            return "good" if row.reward > 0 else "bad"
        return "muted" if column == StepColumn.END else "text"

    def missing_text(self, number: int, column: int) -> str:
        """A worker that samples steps reports some of them only."""
        if column == StepColumn.STEP:
            return format_integer(number)
        return "not recorded" if column == StepColumn.ACTION else ""

    def export_name(self) -> str:
        return f"episode {self.episode or 0} steps"

    def csv_header(self) -> Sequence[str]:
        return ("step", "actor", "action", "reward", "terminated", "truncated", "obs", "info")

    def csv_batches(self) -> Iterable[Batch]:
        client, run_id, episode = self._services.link.client, self.run_id, self.episode or 0

        def batches() -> Iterator[Batch]:
            first, total = 0, self._total
            while first < total:
                steps = client.episode_steps(run_id, episode, first, _CSV_ROWS)
                yield [_csv_row(step) for step in steps], total
                # The size of a response is limited; steps that were not recorded are skipped.
                first = steps[-1].step + 1 if steps else first + _CSV_ROWS

        return batches()

    def _on_failed(self, error: UserError) -> None:
        # A new episode has no steps yet.
        if error.code != _NO_SUCH_EPISODE or not self.is_live:
            super()._on_failed(error)


def _make_page(
    episode: EpisodeRollup, steps: Sequence[StepRecord], first: int, count: int
) -> Page[StepRecord]:
    """Return one row per step number: the first step with that number if agents share it."""
    if _unrecorded_steps(episode):
        return Page([], 0, is_final=True)
    length = episode.steps if episode.reported_steps is None else episode.reported_steps
    total = max(length, steps[-1].step + 1 if steps else 0)
    rows: list[StepRecord | None] = [None] * max(0, min(count, total - first))
    for step in steps:
        rows[step.step - first] = rows[step.step - first] or step
    return Page(rows, total, episode.is_over or len(steps) >= PAGE_ROWS)


def _unrecorded_steps(episode: EpisodeRollup) -> int:
    """Return the length of an episode of which no step was reported, or 0."""
    is_unrecorded = episode.is_over and not episode.steps
    return (episode.reported_steps or 0) if is_unrecorded else 0


def _reported_meanings(environment_json: bytes | None) -> tuple[str, ...]:
    """Return the meanings that the environment reported; they take precedence over the catalog."""
    event = None if environment_json is None else decode(environment_json)
    return tuple(event.action_meanings or ()) if isinstance(event, EnvironmentEvent) else ()


def _action_text(action: object, meanings: Sequence[str]) -> str:
    """Return an action with its meaning, if there is one."""
    if isinstance(action, int) and not isinstance(action, bool) and 0 <= action < len(meanings):
        meaning = meanings[action].lower()
        return f"{_ARROWS.get(meaning, action)} {meaning}"
    if isinstance(action, float):
        return format_decimal(action)
    if isinstance(action, list) and all(isinstance(item, int | float) for item in action):
        items = ", ".join(format_decimal(float(item)) for item in action[:8])
        return f"[{items}{', …' if len(action) > len(action[:8]) else ''}]"
    text = str(action)
    return text if len(text) <= _MAX_ACTION_LENGTH else text[:_MAX_ACTION_LENGTH] + "…"


def _csv_row(step: StepRecord) -> Sequence[object]:
    first = (step.step, step.actor, _json(step.action), step.reward)
    return (*first, step.terminated, step.truncated, _json(step.obs), _json(step.info))


def _json(value: object) -> object:
    if value is None or isinstance(value, int | float | str):
        return value
    return msgspec.json.encode(value).decode()
