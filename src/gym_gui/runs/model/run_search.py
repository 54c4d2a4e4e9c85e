"""RunSearch: the parsed filter of the list of runs.

A plain term matches any text of a run; `state:failed` matches only that field. A minus negates a
term, commas mean "or", and quotes keep spaces and commas. `RunArrangement` calls it for each run.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from gym_gui.runtime.models import run_text
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_TERM = re.compile(r'(?P<minus>-?)(?:(?P<field>[a-z]+):)?(?P<value>(?:"[^"]*"?|[^\s"])*)')
_NEEDS_QUOTES = re.compile(r"[\s,]")


def _state_texts(run: RunRecord) -> tuple[str, ...]:
    return (run.state, run_text.STATE_STYLES[run.state].word)


def _worker_texts(run: RunRecord) -> tuple[str, ...]:
    return (run.worker, run_text.worker_label(run.worker))


FIELDS: Mapping[str, Callable[[RunRecord], Collection[str]]] = MappingProxyType(
    {
        "state": _state_texts,
        "tag": lambda run: run.tags,
        "worker": _worker_texts,
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
    "Text in the name, worker, environment, algorithm, tag, note or state.\n"
    "One field: state:failed  tag:paper  worker:cleanrl  env:cartpole  algo:ppo  seed:1\n"
    "Alternatives: state:failed,lost     Exclude: -tag:old"
)
_EXACT_FIELDS = frozenset({"seed", "state"})
"""Fields whose complete value must match: seed 1 does not match seed 11."""


@dataclass(frozen=True, slots=True)
class _Term:
    field_name: str
    values: tuple[str, ...]
    is_negated: bool
    results: dict[tuple[str, ...], bool] = field(default_factory=dict)
    """Cached results by field value, because most runs share a few values."""

    @property
    def is_plain(self) -> bool:
        return not self.field_name and not self.is_negated

    def matches(self, run: RunRecord, haystack: str) -> bool:
        if not self.field_name:
            return not any(value in haystack for value in self.values)
        texts = tuple(FIELDS[self.field_name](run))
        is_match = self.results.get(texts)
        if is_match is None:
            is_match = self.results[texts] = self._matches_any([text.casefold() for text in texts])
        return is_match is not self.is_negated

    def _matches_any(self, texts: list[str]) -> bool:
        if self.field_name in _EXACT_FIELDS:
            return any(value in texts for value in self.values)
        return any(value in text for value in self.values for text in texts)


class RunSearch:
    """An empty search matches every run."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        terms = tuple(_parse_terms(text))
        self._plain_terms = tuple(term.values[0] for term in terms if term.is_plain)
        self._other_terms = tuple(term for term in terms if not term.is_plain)

    @property
    def is_empty(self) -> bool:
        return not self._plain_terms and not self._other_terms

    def matches(self, run: RunRecord, haystack: str) -> bool:
        """`haystack` is the result of `haystack_of(run)`; callers should cache it."""
        for text in self._plain_terms:  # a loop is faster than all()
            if text not in haystack:
                return False
        return not self._other_terms or all(
            term.matches(run, haystack) for term in self._other_terms
        )


def haystack_of(run: RunRecord) -> str:
    """All text that a plain term is compared with, in lower case."""
    tags = f"{' '.join(run.tags)}\n" if run.tags else ""
    own = f"{run.name}\n{run.run_id}\n{tags}{run.note}\ns{run.seed}\n".casefold()
    return own + _shared_text(run.env_id, run.algo, run.mode, run.worker, run.state)


@lru_cache(maxsize=4096)
def _shared_text(env_id: str, algo: str, mode: str, worker: str, state: RunState) -> str:
    """The text that a run shares with many others, cached."""
    labels = (worker, run_text.worker_label(worker), state, run_text.STATE_STYLES[state].word)
    return "\n".join((f"{env_id} {algo or mode}", mode, *labels)).casefold()


def completions(term: str, runs: Iterable[RunRecord]) -> list[str]:
    """Completions for the term that is being typed: field names, or values of a field."""
    minus, field, prefix = _split(term)
    if not field:
        fields = (f"{minus}{name}:" for name in FIELDS)
        return [name for name in fields if prefix and name.startswith(f"{minus}{prefix}")]
    prefix = prefix.strip('"')
    values = {text for run in runs for text in _completion_values(field, run) if text}
    matching = sorted(value for value in values if prefix in value.casefold())
    return [f"{minus}{field}:{quoted(value)}" for value in matching]


def quoted(value: str) -> str:
    return f'"{value}"' if _NEEDS_QUOTES.search(value) else value


def _completion_values(field: str, run: RunRecord) -> Collection[str]:
    """Values to complete; of an id and a label, only the label."""
    values = FIELDS[field](run)
    return tuple(values)[-1:] if field in {"state", "worker"} else values


def _split(term: str) -> tuple[str, str, str]:
    match = _TERM.fullmatch(term.casefold())
    if match is None or (match["field"] and match["field"] not in FIELDS):
        return "", "", term.casefold()
    return match["minus"], match["field"] or "", match["value"]


def _parse_terms(text: str) -> Iterable[_Term]:
    for match in _TERM.finditer(text.casefold()):
        field, value = match["field"] or "", match["value"]
        if field and field not in FIELDS:
            field, value = "", f"{field}:{value}"
        # A comma inside quotes or in a plain term is part of the value.
        pieces = re.findall(r'"[^"]*"?|[^,"]+', value) if field else [value]
        values = tuple(piece.replace('"', "").strip() for piece in pieces)
        if any(values):
            yield _Term(field, tuple(filter(None, values)), bool(match["minus"]))
