"""The telemetry events: what a worker writes, one JSON object per line.

`docs/protocol.md` describes them for people; these structs are what is enforced.
Fields that are not named here are kept, because the line itself is stored.
"""

from typing import Annotated, Any, Literal

import msgspec

from mosaic.contract.numbers import Real
from mosaic.contract.type_info import work_out

PROTOCOL_VERSION = 1
MAX_LINE_BYTES = 1 << 20
MAX_NESTING = 128
_EPOCH_THRESHOLD_S = 1e9

_INT64_MAX = (1 << 63) - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=_INT64_MAX)]
Int64 = Annotated[int, msgspec.Meta(ge=-_INT64_MAX - 1, le=_INT64_MAX)]
Ordinal = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
Word = Annotated[str, msgspec.Meta(max_length=256)]
EpisodeId = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]

MAX_POLICY_STATES = 10_000
MAX_POLICY_ACTIONS = 64
_ActionValues = Annotated[list[Real], msgspec.Meta(min_length=1, max_length=MAX_POLICY_ACTIONS)]
_PerState = msgspec.Meta(min_length=1, max_length=MAX_POLICY_STATES)

ArtifactKind = Literal["video", "tensorboard", "wandb", "optuna", "checkpoint", "dataset", "report"]


class Event(msgspec.Struct, tag_field="type", kw_only=True, omit_defaults=True):
    """What every line may carry."""

    agent_id: str | None = None


class Hello(Event, tag="hello"):
    """The first line: who writes, and which version of the protocol."""

    v: Count
    worker: str
    worker_version: str | None = None
    run_id: str | None = None
    pid: Count | None = None
    capabilities: Any = None


class ConfigEvent(Event, tag="config"):
    """Every value as the worker resolved it."""

    run_id: str
    algo: str
    env_id: str
    args: dict[str, Any]
    seed: int | None = None
    env_kwargs: dict[str, Any] | None = None
    packages: dict[str, Any] | None = None
    git: Any = None


class EnvironmentEvent(Event, tag="environment"):
    """An environment as it was made: the episodes of `env_index` that follow are played in it."""

    env_id: str
    env_kwargs: dict[str, Any] | None = None
    env_index: Count | None = None
    max_episode_steps: Count | None = None
    action_space: Any = None
    observation_space: Any = None
    action_meanings: list[str] | None = None
    render_fps: Real | None = None
    not_replayable: str | None = None
    packages: dict[str, Any] | None = None


class EpisodeOrigin(msgspec.Struct, kw_only=True):
    """What an episode's start depended on when a seed alone does not say it."""

    kind: Literal["pcg64", "ale", "state"]
    data: str


class EpisodeStart(Event, tag="episode_start"):
    """An episode begins."""

    episode_id: EpisodeId
    episode: Ordinal | None = None
    seed: int | None = None
    start: EpisodeOrigin | None = None
    options: Any = None
    action_dtype: str | None = None
    env_index: Count | None = None
    env_kwargs: dict[str, Any] | None = None
    obs: Any = None
    info: Any = None
    render: Any = None


class StepRecord(Event, tag="step", gc=False):
    """One step. The same class from the store to the screen."""

    episode_id: EpisodeId
    step: Count
    action: Any
    reward: Real
    terminated: bool
    truncated: bool
    obs: Any = None
    info: Any = None
    render: Any = None
    actor: str | None = None
    seq: Int64 | None = None
    bdi: Any = None
    llm: Any = None
    t: Real | None = None


class StepHead(Event, tag="step", gc=False):
    """The part of a step that storing it depends on; the rest of the line is not even parsed.

    Whatever decodes as a `StepHead` decodes as a `StepRecord`.
    """

    episode_id: EpisodeId
    step: Count
    reward: Real
    terminated: bool
    truncated: bool
    action: msgspec.Raw
    actor: str | None = None
    seq: Int64 | None = None
    t: Real | None = None


class StepColumns(Event, tag="steps"):
    """Many steps of one episode as columns: enough to replay them, at almost no cost."""

    episode_id: EpisodeId
    first: Count
    actions: list[Any]
    rewards: list[Real]

    def __post_init__(self) -> None:
        if len(self.actions) != len(self.rewards):
            raise ValueError("`actions` and `rewards` differ in length")
        if not self.actions:
            raise ValueError("`actions` is empty")
        if self.first + len(self.actions) > _INT64_MAX:
            raise ValueError("`first` is too large")


class EpisodeEnd(Event, tag="episode"):
    """An episode is over.

    It may carry its last steps as columns, and, when it had no `episode_start` line, how it began:
    a short episode is then one line.
    """

    episode_id: EpisodeId
    steps: Count
    total_return: Real = msgspec.field(name="return")
    episode: Ordinal | None = None
    terminated: bool | None = None
    truncated: bool | None = None
    t_end: Real | None = None
    env_index: Count | None = None
    success: bool | None = None
    seed: int | None = None
    start: EpisodeOrigin | None = None
    options: Any = None
    action_dtype: str | None = None
    env_kwargs: dict[str, Any] | None = None
    first: Count | None = None
    actions: list[Any] | None = None
    rewards: list[Real] | None = None

    def __post_init__(self) -> None:
        if len(self.actions or ()) != len(self.rewards or ()):
            raise ValueError("`actions` and `rewards` differ in length")
        if (self.first or 0) + len(self.actions or ()) > _INT64_MAX:
            raise ValueError("`first` is too large")


class PolicyEvent(Event, tag="policy"):
    """What an actor would do in each state of an environment whose observation is a number.

    A later line replaces an earlier one; one with neither `actions` nor `q_values` withdraws it.
    """

    actions: Annotated[list[Int64 | None], _PerState] | None = None
    q_values: Annotated[list[_ActionValues], _PerState] | None = None
    step: Count | None = None
    actor: Word | None = None

    def __post_init__(self) -> None:
        actions, q_values = self.actions, self.q_values
        if actions is not None and q_values is not None and len(actions) != len(q_values):
            raise ValueError("`actions` and `q_values` differ in length")
        if q_values is not None and len({len(values) for values in q_values}) != 1:
            raise ValueError("the lists of `q_values` differ in length")

    @property
    def states(self) -> int:
        """Of how many states it tells; 0 when it withdraws what was told."""
        return len(self.actions or self.q_values or ())


class Intention(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Something that an agent is at."""

    goal: str
    plan: str = ""
    depth: Count | None = None


class BdiEvent(Event, tag="bdi"):
    """What changed in an agent's mind: beliefs as changes, all else as it is now.

    The same fields, from `added` to `confidence`, make a step's `bdi`: see `bdi.py`.
    """

    step: Count | None = None
    added: list[str] | None = None
    removed: list[str] | None = None
    goals: list[str] | None = None
    intentions: list[Intention] | None = None
    plan: str | None = None
    confidence: Real | None = None
    t: Real | None = None


class Metric(Event, tag="metric"):
    """One number by name, or several that belong to one step."""

    name: Word | None = None
    value: Real | None = None
    values: dict[Word, Real] | None = None
    step: Int64 | None = None
    t: Real | None = None

    def __post_init__(self) -> None:
        single = self.name is not None and self.value is not None
        if single == (self.values is not None):
            raise ValueError("needs `name` and `value`, or `values`")


class Artifact(Event, tag="artifact"):
    """A file or an address that the run has made."""

    kind: ArtifactKind
    path: str | None = None
    url: str | None = None
    meta: Any = None

    def __post_init__(self) -> None:
        if not self.path and not self.url:
            raise ValueError("needs `path` or `url`")


class Heartbeat(Event, tag="heartbeat"):
    """The worker lives."""

    t: Real
    global_step: Count | None = None
    sps: Real | None = None
    rss_bytes: Count | None = None
    cpu_s: Real | None = None
    threads: Count | None = None
    processes: Count | None = None


class Progress(Event, tag="progress"):
    """How far the run has come."""

    done: Real
    total: Real
    unit: str
    eta_s: Real | None = None


class Log(Event, tag="log"):
    """A message for people, with a code that can be searched for."""

    level: str
    code: str
    message: str
    fields: Any = None


class Status(Event, tag="status"):
    """The worker changed what it is doing."""

    state: Literal["running", "paused", "stopping"]
    reason: str | None = None


class Bye(Event, tag="bye"):
    """The last line: how it ended."""

    outcome: Literal["succeeded", "failed", "cancelled"]
    error: str | None = None
    remedy: str | None = None


class UnknownEvent(msgspec.Struct):
    """A line whose type this version does not know: counted and kept."""

    type: str


class LegacyArtifacts(msgspec.Struct, tag_field="event", tag="artifacts", kw_only=True):
    """The older way of announcing artifacts, all in one line."""

    video: Any = None
    tensorboard: Any = None
    wandb_url: Any = None

    @property
    def type(self) -> str:
        return "artifacts"


EVENT_TYPES: tuple[type[Event], ...] = (
    Hello,
    ConfigEvent,
    EnvironmentEvent,
    EpisodeStart,
    StepRecord,
    EpisodeEnd,
    StepColumns,
    PolicyEvent,
    BdiEvent,
    Metric,
    Artifact,
    Heartbeat,
    Progress,
    Log,
    Status,
    Bye,
)


def absolute_time(t: float, run_started: float | None) -> float:
    """`t` since the epoch; a small one counts from the run's start, where that is known."""
    if run_started is None or t >= _EPOCH_THRESHOLD_S:
        return t
    return t + run_started


def tag_of(event_type: type[Event]) -> str:
    """The `type` that stands on the line."""
    tag = event_type.__struct_config__.tag
    if not isinstance(tag, str):
        raise TypeError(f"{event_type.__name__} has no tag")
    return tag


work_out(LegacyArtifacts)
