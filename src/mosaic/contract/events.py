"""The telemetry events: what a worker writes, one JSON object per line.

`docs/protocol.md` documents them; these structs enforce them.
Unknown fields are preserved, because the line itself is stored.
"""

from typing import Annotated, Any, Literal

import msgspec

from mosaic.contract.numbers import Real
from mosaic.contract.prebuild import prebuild_decoders

PROTOCOL_VERSION = 1
MAX_LINE_BYTES = 1 << 20
MAX_NESTING = 128
_EPOCH_THRESHOLD_S = 1e9

_INT64_MAX = (1 << 63) - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=_INT64_MAX)]
Int64 = Annotated[int, msgspec.Meta(ge=-_INT64_MAX - 1, le=_INT64_MAX)]
Ordinal = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
MAX_WORD_LENGTH = 256
MAX_TEXT_LENGTH = 65_536
TRUNCATED = "truncated"
"""In `Meta.extra`: a longer text is cut, where a longer name or id is rejected."""
Word = Annotated[str, msgspec.Meta(max_length=MAX_WORD_LENGTH)]
"""A name or an id."""
Label = Annotated[str, msgspec.Meta(max_length=MAX_WORD_LENGTH, extra={TRUNCATED: True})]
"""A short text for people."""
Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT_LENGTH, extra={TRUNCATED: True})]
"""A message for people."""
Belief = Annotated[str, msgspec.Meta(max_length=4096)]
_Path = Annotated[str, msgspec.Meta(max_length=4096)]
_Address = Annotated[str, msgspec.Meta(max_length=8192)]
EpisodeId = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]

MAX_POLICY_STATES = 10_000
MAX_POLICY_ACTIONS = 64
_ActionValues = Annotated[list[Real], msgspec.Meta(min_length=1, max_length=MAX_POLICY_ACTIONS)]
_PerState = msgspec.Meta(min_length=1, max_length=MAX_POLICY_STATES)

ArtifactKind = Literal["video", "tensorboard", "wandb", "optuna", "checkpoint", "dataset", "report"]


class Event(msgspec.Struct, tag_field="type", kw_only=True, omit_defaults=True):
    """Fields that every line may have."""

    agent_id: Word | None = None


class Hello(Event, tag="hello"):
    """The first line: the worker and its protocol version."""

    v: Count
    worker: Label
    worker_version: Label | None = None
    run_id: Label | None = None
    pid: Count | None = None
    capabilities: Any = None


class ConfigEvent(Event, tag="config"):
    """The configuration with every value as the worker resolved it."""

    run_id: Label
    algo: Label
    env_id: Label
    args: dict[str, Any]
    seed: int | None = None
    env_kwargs: dict[str, Any] | None = None
    packages: dict[str, Any] | None = None
    git: Any = None


class EnvironmentEvent(Event, tag="environment"):
    """An environment that was created; the following episodes with its `env_index` run in it."""

    env_id: Word
    env_kwargs: dict[str, Any] | None = None
    env_index: Count | None = None
    max_episode_steps: Count | None = None
    action_space: Any = None
    observation_space: Any = None
    action_meanings: list[Word] | None = None
    render_fps: Real | None = None
    not_replayable: Text | None = None
    packages: dict[str, Any] | None = None


class EpisodeOrigin(msgspec.Struct, kw_only=True):
    """The random state at an episode's start, when a seed does not determine it."""

    kind: Literal["pcg64", "ale", "state"]
    data: str


class EpisodeStart(Event, tag="episode_start"):
    """An episode starts."""

    episode_id: EpisodeId
    episode: Ordinal | None = None
    seed: int | None = None
    start: EpisodeOrigin | None = None
    options: Any = None
    action_dtype: Word | None = None
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
    actor: Word | None = None
    seq: Int64 | None = None
    bdi: Any = None
    llm: Any = None
    t: Real | None = None


class StepHead(Event, tag="step", gc=False):
    """The fields of a step that ingest needs; the rest of the line is not parsed.

    A line that decodes as a `StepHead` also decodes as a `StepRecord`.
    """

    episode_id: EpisodeId
    step: Count
    reward: Real
    terminated: bool
    truncated: bool
    action: msgspec.Raw
    actor: Word | None = None
    seq: Int64 | None = None
    t: Real | None = None


class StepColumns(Event, tag="steps"):
    """Consecutive steps of one episode as columns: the minimum that a replay needs."""

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
    """An episode ended.

    It may contain its last steps as columns and, without an `episode_start` line, the fields of the
    start: a short episode is then a single line.
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
    action_dtype: Word | None = None
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
    """The policy for each state of an environment with discrete observations.

    A later line replaces an earlier one; a line without `actions` and `q_values` clears the policy.
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
        """Number of states it covers; 0 when it clears the policy."""
        return len(self.actions or self.q_values or ())


class Intention(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """An active intention of an agent."""

    goal: Belief
    plan: Belief = ""
    depth: Count | None = None


class BdiEvent(Event, tag="bdi"):
    """A change of a BDI agent's state: beliefs as differences, other fields as current values.

    A step's `bdi` has the same fields, from `added` to `confidence`: see `bdi.py`.
    """

    step: Count | None = None
    added: list[Belief] | None = None
    removed: list[Belief] | None = None
    goals: list[Belief] | None = None
    intentions: list[Intention] | None = None
    plan: Belief | None = None
    confidence: Real | None = None
    t: Real | None = None


class Metric(Event, tag="metric"):
    """One named value, or several of the same step."""

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
    """A file or URL that the run produced."""

    kind: ArtifactKind
    path: _Path | None = None
    url: _Address | None = None
    meta: Any = None

    def __post_init__(self) -> None:
        if not self.path and not self.url:
            raise ValueError("needs `path` or `url`")


class Heartbeat(Event, tag="heartbeat"):
    """The worker is alive."""

    t: Real
    global_step: Count | None = None
    sps: Real | None = None
    rss_bytes: Count | None = None
    cpu_s: Real | None = None
    threads: Count | None = None
    processes: Count | None = None


class Progress(Event, tag="progress"):
    """Progress of the run."""

    done: Real
    total: Real
    unit: Label
    eta_s: Real | None = None


class Log(Event, tag="log"):
    """A log message with a searchable code."""

    level: Label
    code: Label
    message: Text
    fields: Any = None


class Status(Event, tag="status"):
    """The worker changed its state."""

    state: Literal["running", "paused", "stopping"]
    reason: Text | None = None


class Bye(Event, tag="bye"):
    """The last line: the outcome of the run."""

    outcome: Literal["succeeded", "failed", "cancelled"]
    error: Text | None = None
    remedy: Text | None = None


class UnknownEvent(msgspec.Struct):
    """A line of a type that this version does not know: counted and stored."""

    type: str


class LegacyArtifacts(msgspec.Struct, tag_field="event", tag="artifacts", kw_only=True):
    """The older format, which reports all artifacts in one line."""

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
    """Return `t` in seconds since the epoch; a small `t` is relative to the start of the run."""
    if run_started is None or t >= _EPOCH_THRESHOLD_S:
        return t
    return t + run_started


def tag_of(event_type: type[Event]) -> str:
    """Return the value of the `type` field of such events."""
    tag = event_type.__struct_config__.tag
    if not isinstance(tag, str):
        raise TypeError(f"{event_type.__name__} has no tag")
    return tag


prebuild_decoders(LegacyArtifacts)
