"""Which runs of a chart belong together, and what they are called. Used by `ChartsModel`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gym_gui.charts.feed.curves import RunFacts
from gym_gui.runtime.models import run_text

SEED = "seed"
EACH = ""
"""Not grouped: each run by itself."""
_OF_RUN_ALONE = ("run_name", "priority", "parent_run", "agent_id", "worker_id", "time_limit_s")
_MOST_DIFFERENCES = 3


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs that are drawn in one colour. `number` says which."""

    number: int
    label: str
    run_ids: tuple[str, ...]
    detail: str = ""


def groups_of(facts: Sequence[RunFacts], by: str) -> tuple[RunGroup, ...]:
    """In the order in which the runs came.

    By the seed: runs that differ in nothing else. By another field: runs that have the same there.
    """
    keyed: dict[object, list[RunFacts]] = {}
    for each in facts:
        keyed.setdefault(_key(each, by), []).append(each)
    names = _names([members[0] for members in keyed.values()], by)
    titles = titles_of(facts)
    return tuple(
        RunGroup(
            number,
            _label(members, by, names[number], titles),
            tuple(each.run.run_id for each in members),
            ", ".join(titles[each.run.run_id] for each in members),
        )
        for number, members in enumerate(keyed.values())
    )


def fields_of(facts: Sequence[RunFacts]) -> tuple[str, ...]:
    """What runs can be grouped by: the seed, and wherever these differ."""
    names = sorted({name for each in facts for name in each.config} - {SEED, *_OF_RUN_ALONE})
    differing = (name for name in names if len({each.config.get(name) for each in facts}) > 1)
    return (SEED, *differing)


def titles_of(facts: Sequence[RunFacts]) -> dict[str, str]:
    """What each run is called."""
    return run_text.unique_titles([each.run for each in facts])


def _key(facts: RunFacts, by: str) -> object:
    if by == EACH:
        return facts.run.run_id
    if by != SEED:
        return facts.config.get(by)
    left_out = {SEED, *_OF_RUN_ALONE}
    return frozenset(item for item in facts.config.items() if item[0] not in left_out)


def _names(firsts: Sequence[RunFacts], by: str) -> list[str]:
    """What tells groups by seed apart: algorithm and environment, and then what differs."""
    if by != SEED:
        return [""] * len(firsts)
    plain = [f"{each.run.algo or each.run.mode} {each.run.env_id}" for each in firsts]
    if len(firsts) > 1 and len(set(plain)) == 1:
        plain = [""] * len(firsts)  # what is the same in all of them tells nothing apart
    named = []
    for name, each in zip(plain, firsts, strict=True):
        alike = [other for other, said in zip(firsts, plain, strict=True) if said == name]
        differing = fields_of(alike)[1 : 1 + _MOST_DIFFERENCES]
        words = (f"{field.replace('_', ' ')} {each.config.get(field, '-')}" for field in differing)
        named.append(", ".join(filter(None, (name, *words))))
    return named


def _label(members: Sequence[RunFacts], by: str, name: str, titles: Mapping[str, str]) -> str:
    if by == EACH or (len(members) == 1 and by == SEED):
        return titles[members[0].run.run_id]
    if by == SEED:
        return f"{name} · {len(members)} seeds"
    runs = "1 run" if len(members) == 1 else f"{len(members)} runs"
    return f"{by.replace('_', ' ')} {members[0].config.get(by, '-')} · {runs}"
