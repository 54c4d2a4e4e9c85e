"""LogFilter: which lines of the log are shown. A plain value; `LogModel` goes by it."""

from collections.abc import Sequence
from dataclasses import dataclass

from gym_gui.runtime.log_records import LogRecord, Severity

__all__ = ["LogFilter", "LogRecord", "Severity"]


@dataclass(frozen=True, slots=True)
class LogFilter:
    """All of it must hold; what is empty lets everything pass. Letters' case does not count."""

    component: str = ""
    at_least: Severity = Severity.DEBUG
    code: str = ""
    """What a code begins with."""
    text: str = ""
    """What is searched for; it hides nothing unless `only_found`."""
    only_found: bool = False

    def passing(self, records: Sequence[LogRecord]) -> list[int]:
        """The places of those that are shown. One quick pass for each thing that is asked for."""
        places: Sequence[int] = range(len(records))
        if self.at_least > Severity.DEBUG:
            least = self.at_least
            places = [at for at in places if records[at].severity >= least]
        if self.component:
            component = self.component
            places = [at for at in places if records[at].component == component]
        if self.code:
            code = self.code.upper()
            places = [at for at in places if records[at].code.startswith(code)]
        if self.only_found and self.text:
            places = self.found(records, places)
        return list(places)

    def found(self, records: Sequence[LogRecord], places: Sequence[int]) -> list[int]:
        """Those of `places` that the search finds; an empty search finds nothing."""
        if not self.text:
            return []
        needle = self.text.lower()
        return [at for at in places if needle in records[at].lowered]
