"""Calls that ask about runs: lists, one in full, what happens to them, when one is over."""

import time
from collections.abc import Collection, Iterable, Iterator

from mosaic.client.call_group import CallGroup
from mosaic.client.connection import PATIENCE_S
from mosaic.client.errors import TooSlowError, WaitTimeoutError
from mosaic.client.run_reference import LAST, find_run, unknown_reference
from mosaic.client.streams import Stream
from mosaic.contract.ids import is_ulid
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message, to_message
from mosaic.contract.run_events import EventsForgotten, RunDeleted, RunEvent
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunPage, RunQuery, RunRecord

_LARGEST_PAGE = 1000
_ALL = RunQuery()


class RunQueries(CallGroup):
    """Looking at runs."""

    def page(self, query: RunQuery = _ALL) -> RunPage:
        """One page of runs, newest first; `RunPage.last_event_seq` is where to watch from."""
        request = to_message(query, pb.ListRunsRequest)
        return from_message(self._connection.call(lambda stub: stub.ListRuns, request), RunPage)

    def runs(
        self,
        *,
        states: Collection[RunState | str] = (),
        worker: str = "",
        algo: str = "",
        env_id: str = "",
        tag: str = "",
        text: str = "",
        parent_run: str = "",
        include_archived: bool = False,
    ) -> Iterator[RunRecord]:
        """All runs that match, newest first, fetched page by page as they are needed.

        best = max(client.runs(algo="ppo"), key=lambda run: run.digest.mean_return or 0)
        """
        page_token = ""
        while True:
            page = self.page(
                RunQuery(
                    states=tuple(RunState(state) for state in states),
                    worker=worker,
                    algo=algo,
                    env_id=env_id,
                    tag=tag,
                    text=text,
                    parent_run=parent_run,
                    include_archived=include_archived,
                    page_size=_LARGEST_PAGE,
                    page_token=page_token,
                )
            )
            yield from page.runs
            page_token = page.next_page_token
            if not page_token:
                return

    def run(self, run_id: str) -> RunDetails:
        """Everything about one run: configuration, command, bundle, history, artifacts, output."""
        return self._run(run_id, PATIENCE_S)

    def resolve(self, reference: str) -> str:
        """The run id that is meant by `reference`: an id, its beginning or its end, a name that
        only one run has, or `last`.

            client.run(client.resolve("last"))
        """
        if is_ulid(reference):
            return reference
        if reference == LAST:
            newest = self.page(RunQuery(include_archived=True, page_size=1)).runs
            if not newest:
                raise unknown_reference(reference)
            return newest[0].run_id
        candidates = self.runs(text=reference, include_archived=True) if reference else ()
        return find_run(reference, ((run.run_id, run.name) for run in candidates))

    def watch(
        self,
        *,
        after_seq: int = -1,
        run_ids: Iterable[str] = (),
        digests: bool = False,
        follow: bool = True,
    ) -> Stream[RunEvent]:
        """What happens to runs, as it happens; after a lost connection nothing is missing.

        `after_seq` is the number of the last event seen; 0: from the oldest that is kept, -1: from
        now on. With `digests` the numbers of running runs come too.

            with client.watch(digests=True) as events:
                for event in events:
                    print(event.run_id, event.what)
        """
        return self._watch(after_seq, tuple(run_ids), digests, follow, deadline=None)

    def wait(self, run_id: str, timeout_s: float | None = None) -> RunRecord:
        """Wait until the run is over.

        Raises `WaitTimeoutError` when it is not over after `timeout_s` seconds.

            run = client.wait(client.submit(config).run_id)
            print(run.state, run.reason, run.digest.mean_return)
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        events = self._watch(-1, (run_id,), digests=False, follow=True, deadline=deadline)
        run = self._run(run_id, self._patience_s).run
        with events:
            while not run.state.is_final:
                try:
                    event = next(events)
                except TooSlowError as error:
                    raise WaitTimeoutError(
                        f"Run {run_id} is still {run.state} after {timeout_s:g} s.",
                        remedy="Wait longer, or stop it with `cancel`.",
                        status=error.status,
                    ) from error
                if isinstance(event.what, RunDeleted) or event.run is None:
                    run = self._run(
                        run_id, self._patience_s
                    ).run  # which says that there is no such run
                else:
                    run = event.run
        return run

    def _watch(
        self,
        after_seq: int,
        run_ids: tuple[str, ...],
        digests: bool,
        follow: bool,
        deadline: float | None,
    ) -> Stream[RunEvent]:
        # "From now on" must mean the same moment after a lost connection.
        cursor = after_seq if after_seq >= 0 else self._last_event_seq()

        def request() -> pb.WatchRunsRequest:
            return pb.WatchRunsRequest(
                after_seq=cursor, run_ids=run_ids, digests=digests, follow=follow
            )

        def unpack(message: pb.RunEvent) -> tuple[RunEvent, ...]:
            nonlocal cursor
            event = from_message(message, RunEvent)
            # A registry that was made anew counts from the beginning, and says so first.
            is_new_count = isinstance(event.what, EventsForgotten)
            cursor = event.seq if is_new_count else max(cursor, event.seq)
            return (event,)

        return Stream(
            self._connection,
            lambda stub: stub.WatchRuns,
            request,
            unpack,
            patience_s=self._patience_s,
            deadline=deadline,
        )

    def _last_event_seq(self) -> int:
        health = self._connection.call(
            lambda stub: stub.GetHealth, pb.GetHealthRequest(), patience_s=self._patience_s
        )
        return health.last_event_seq

    def _run(self, run_id: str, patience_s: float | None) -> RunDetails:
        answer = self._connection.call(
            lambda stub: stub.GetRun, pb.RunRef(run_id=run_id), patience_s=patience_s
        )
        return from_message(answer, RunDetails)
