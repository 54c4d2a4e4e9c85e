"""Groups and titles of the runs in a chart. Used by `ChartsModel`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gym_gui.charts.feed.curves import ChartRunInfo
from gym_gui.runtime.models import run_text

SEED = "seed"
EACH = ""
"""No grouping: one group per run."""
_RUN_FIELDS = ("run_name", "priority", "parent_run", "agent_id", "worker_id", "time_limit_s")
_MAX_DIFFERENCES = 3


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs drawn in one colour, the one with index `number`."""

    number: int
    label: str
    run_ids: tuple[str, ...]
    detail: str = ""


def groups_of(infos: Sequence[ChartRunInfo], by: str) -> tuple[RunGroup, ...]:
    """Group runs, in the order of the runs.

    By seed: runs that differ only in their seed. By another field: runs with the same value.
    """
    keyed: dict[object, list[ChartRunInfo]] = {}
    for info in infos:
        keyed.setdefault(_key(info, by), []).append(info)
    names = _names([members[0] for members in keyed.values()], by)
    titles = titles_of(infos)
    return tuple(
        RunGroup(
            number,
            _label(members, by, names[number], titles),
            tuple(info.run.run_id for info in members),
            ", ".join(titles[info.run.run_id] for info in members),
        )
        for number, members in enumerate(keyed.values())
    )


def fields_of(infos: Sequence[ChartRunInfo]) -> tuple[str, ...]:
    """Fields to group by: the seed and each field in which the runs differ."""
    names = sorted({name for info in infos for name in info.config} - {SEED, *_RUN_FIELDS})
    differing = (name for name in names if len({info.config.get(name) for info in infos}) > 1)
    return (SEED, *differing)


def titles_of(infos: Sequence[ChartRunInfo]) -> dict[str, str]:
    """The title of each run, by run id."""
    return run_text.unique_titles([info.run for info in infos])


def _key(info: ChartRunInfo, by: str) -> object:
    if by == EACH:
        return info.run.run_id
    if by != SEED:
        return info.config.get(by)
    ignored = {SEED, *_RUN_FIELDS}
    return frozenset(item for item in info.config.items() if item[0] not in ignored)


def _names(firsts: Sequence[ChartRunInfo], by: str) -> list[str]:
    """Names of groups by seed: algorithm and environment, then the fields that differ."""
    if by != SEED:
        return [""] * len(firsts)
    plain = [f"{info.run.algo or info.run.mode} {info.run.env_id}" for info in firsts]
    if len(firsts) > 1 and len(set(plain)) == 1:
        plain = [""] * len(firsts)  # the same in all groups
    named = []
    for name, info in zip(plain, firsts, strict=True):
        same = [other for other, text in zip(firsts, plain, strict=True) if text == name]
        differing = fields_of(same)[1 : 1 + _MAX_DIFFERENCES]
        texts = (f"{field.replace('_', ' ')} {info.config.get(field, '-')}" for field in differing)
        named.append(", ".join(filter(None, (name, *texts))))
    return named


def _label(members: Sequence[ChartRunInfo], by: str, name: str, titles: Mapping[str, str]) -> str:
    if by == EACH or (len(members) == 1 and by == SEED):
        return titles[members[0].run.run_id]
    if by == SEED:
        return f"{name} · {len(members)} seeds"
    runs = "1 run" if len(members) == 1 else f"{len(members)} runs"
    return f"{by.replace('_', ' ')} {members[0].config.get(by, '-')} · {runs}"
