"""RunSearch: what is written in the filter of the list of runs, understood.

Words must stand somewhere in a run; `state:failed` and its like only in that field. A minus before
it turns it round, commas mean or, quotes keep words together. `RunsTable` asks it for every run.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from gym_gui.runtime.models import run_text
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_PART = re.compile(r'(?P<minus>-?)(?:(?P<field>[a-z]+):)?(?P<value>(?:"[^"]*"?|[^\s"])*)')
_NEEDS_QUOTES = re.compile(r"[\s,]")


def _of_state(run: RunRecord) -> tuple[str, ...]:
    return (run.state, run_text.STATE_STYLES[run.state].word)


def _of_worker(run: RunRecord) -> tuple[str, ...]:
    return (run.worker, run_text.worker_label(run.worker))


FIELDS: Mapping[str, Callable[[RunRecord], Collection[str]]] = MappingProxyType(
    {
        "state": _of_state,
        "tag": lambda run: run.tags,
        "worker": _of_worker,
        "env": lambda run: (run.env_id,),
        "algo": lambda run: (run.algo,),
        "mode": lambda run: (run.mode,),
        "name": lambda run: (run_text.title_of(run),),
        "note": lambda run: (run.note,),
        "seed": lambda run: (str(run.seed),),
        "id": lambda run: (run.run_id,),
    }
)
HELP = (
    "Words of the name, worker, environment, algorithm, tag, note or state.\n"
    "In one field: state:failed  tag:paper  worker:cleanrl  env:cartpole  algo:ppo  seed:1\n"
    "Either of two: state:failed,lost     All but: -tag:old"
)
_WHOLE = frozenset({"seed", "state"})
"""Fields whose value must be all of it: seed 1 is not seed 11."""


@dataclass(frozen=True, slots=True)
class _Part:
    field_name: str
    values: tuple[str, ...]
    is_not: bool
    known: dict[tuple[str, ...], bool] = field(default_factory=dict)
    """Most runs have the same few texts in a field: what came of each is kept."""

    @property
    def is_word(self) -> bool:
        return not self.field_name and not self.is_not

    def matches(self, run: RunRecord, haystack: str) -> bool:
        if not self.field_name:
            return not any(value in haystack for value in self.values)
        texts = tuple(FIELDS[self.field_name](run))
        is_there = self.known.get(texts)
        if is_there is None:
            is_there = self.known[texts] = self._is_in([text.casefold() for text in texts])
        return is_there is not self.is_not

    def _is_in(self, texts: list[str]) -> bool:
        if self.field_name in _WHOLE:
            return any(value in texts for value in self.values)
        return any(value in text for value in self.values for text in texts)


class RunSearch:
    """Of one text. An empty one finds everything."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        parts = tuple(_parts_of(text))
        self._words = tuple(part.values[0] for part in parts if part.is_word)
        self._others = tuple(part for part in parts if not part.is_word)

    @property
    def is_empty(self) -> bool:
        return not self._words and not self._others

    def matches(self, run: RunRecord, haystack: str) -> bool:
        """`haystack` is what `haystack_of` made of the run, which is worth keeping."""
        for word in self._words:  # a loop, because this is asked ten thousand times in a row
            if word not in haystack:
                return False
        return not self._others or all(part.matches(run, haystack) for part in self._others)


def haystack_of(run: RunRecord) -> str:
    """All that a word may stand in."""
    tags = f"{' '.join(run.tags)}\n" if run.tags else ""
    own = f"{run.name}\n{run.run_id}\n{tags}{run.note}\ns{run.seed}\n".casefold()
    return own + _shared(run.env_id, run.algo, run.mode, run.worker, run.state)


@lru_cache(maxsize=4096)
def _shared(env_id: str, algo: str, mode: str, worker: str, state: RunState) -> str:
    """Of thousands of runs, most have this in common with others."""
    words = (worker, run_text.worker_label(worker), state, run_text.STATE_STYLES[state].word)
    return "\n".join((f"{env_id} {algo or mode}", mode, *words)).casefold()


def completions(word: str, runs: Iterable[RunRecord]) -> list[str]:
    """What `word`, the one that is being written, may become: a field, or a value of one."""
    minus, field, begun = _split(word)
    if not field:
        fields = (f"{minus}{name}:" for name in FIELDS)
        return [name for name in fields if begun and name.startswith(f"{minus}{begun}")]
    begun = begun.strip('"')
    values = {text for run in runs for text in _offered(field, run) if text}
    fitting = sorted(value for value in values if begun in value.casefold())
    return [f"{minus}{field}:{quoted(value)}" for value in fitting]


def quoted(value: str) -> str:
    return f'"{value}"' if _NEEDS_QUOTES.search(value) else value


def _offered(field: str, run: RunRecord) -> Collection[str]:
    """Of names for the same thing, the one people use."""
    values = FIELDS[field](run)
    return tuple(values)[-1:] if field in {"state", "worker"} else values


def _split(word: str) -> tuple[str, str, str]:
    found = _PART.fullmatch(word.casefold())
    if found is None or (found["field"] and found["field"] not in FIELDS):
        return "", "", word.casefold()
    return found["minus"], found["field"] or "", found["value"]


def _parts_of(text: str) -> Iterable[_Part]:
    for found in _PART.finditer(text.casefold()):
        field, value = found["field"] or "", found["value"]
        if field and field not in FIELDS:
            field, value = "", f"{field}:{value}"
        # A comma between quotes belongs to the value; plain words keep theirs too.
        pieces = re.findall(r'"[^"]*"?|[^,"]+', value) if field else [value]
        values = tuple(piece.replace('"', "").strip() for piece in pieces)
        if any(values):
            yield _Part(field, tuple(filter(None, values)), bool(found["minus"]))
