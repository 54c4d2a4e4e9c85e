"""Calls that query runs: lists, details, events, and waiting for the end of one."""

import time
from collections.abc import Collection, Iterable, Iterator

from mosaic.client.api_base import ApiBase
from mosaic.client.connection import RETRY_TIMEOUT_S
from mosaic.client.errors import CallTimeoutError, WaitTimeoutError
from mosaic.client.run_reference import LAST, find_run, unknown_reference
from mosaic.client.streams import Stream
from mosaic.contract.ids import is_ulid
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message, to_message
from mosaic.contract.run_events import EventsForgotten, RunDeleted, RunEvent
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunPage, RunQuery, RunRecord

_MAX_PAGE_SIZE = 1000
_ALL = RunQuery()


class RunQueryApi(ApiBase):
    """List, look up, watch and wait for runs."""

    def runs_page(self, query: RunQuery = _ALL) -> RunPage:
        """Return one page of runs, newest first.

        Pass its `last_event_seq` to `watch` to receive everything that happens afterwards.
        """
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
        """Iterate over all matching runs, newest first, fetched page by page as needed.

        best = max(client.runs(algo="ppo"), key=lambda run: run.digest.mean_return or 0)
        """
        page_token = ""
        while True:
            page = self.runs_page(
                RunQuery(
                    states=tuple(RunState(state) for state in states),
                    worker=worker,
                    algo=algo,
                    env_id=env_id,
                    tag=tag,
                    text=text,
                    parent_run=parent_run,
                    include_archived=include_archived,
                    page_size=_MAX_PAGE_SIZE,
                    page_token=page_token,
                )
            )
            yield from page.runs
            page_token = page.next_page_token
            if not page_token:
                return

    def run(self, run_id: str) -> RunDetails:
        """Return one run in detail: configuration, command, bundle, history, artifacts, output.

        `resolve` returns the id for a name or an abbreviation.
        """
        return self._run(run_id, RETRY_TIMEOUT_S)

    def resolve(self, reference: str) -> str:
        """Return the run id for `reference`: an id, its first or last letters, a unique name, or
        `last`.

            client.run(client.resolve("last"))
        """
        if is_ulid(reference):
            return reference
        if reference == LAST:
            newest = self.runs_page(RunQuery(include_archived=True, page_size=1)).runs
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
        """Stream run events as they happen; no event is missed after a lost connection.

        `after_seq` is the number of the last event seen; 0: from the oldest stored event, -1: only
        new events. With `digests`, statistics of running runs are included.

            with client.watch(digests=True) as events:
                for event in events:
                    print(event.run_id, event.what)
        """
        return self._watch(after_seq, tuple(run_ids), digests, follow, deadline=None)

    def wait(self, run_id: str, timeout_s: float | None = None) -> RunRecord:
        """Wait until the run has finished and return its record.

        Raises `WaitTimeoutError` if it has not finished after `timeout_s` seconds.

            run = client.wait(client.submit(config).run_id)
            print(run.state, run.reason, run.digest.mean_return)
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        events = self._watch(-1, (run_id,), digests=False, follow=True, deadline=deadline)
        run = self._run(run_id, self._reconnect_timeout_s).run
        with events:
            while not run.state.is_final:
                try:
                    event = next(events)
                except CallTimeoutError as error:
                    raise WaitTimeoutError(
                        f"Run {run_id} is still {run.state} after {timeout_s:g} s.",
                        remedy="Wait longer, or stop it with `cancel`.",
                        status=error.status,
                    ) from error
                if isinstance(event.what, RunDeleted) or event.run is None:
                    # Raises: the run no longer exists.
                    run = self._run(run_id, self._reconnect_timeout_s).run
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
        # "Only new events" must refer to the same event after a reconnect.
        cursor = after_seq if after_seq >= 0 else self._last_event_seq()

        def request() -> pb.WatchRunsRequest:
            return pb.WatchRunsRequest(
                after_seq=cursor, run_ids=run_ids, digests=digests, follow=follow
            )

        def unpack(message: pb.RunEvent) -> tuple[RunEvent, ...]:
            nonlocal cursor
            event = from_message(message, RunEvent)
            # A rebuilt registry restarts its numbering and announces that first.
            is_renumbered = isinstance(event.what, EventsForgotten)
            cursor = event.seq if is_renumbered else max(cursor, event.seq)
            return (event,)

        return Stream(
            self._connection,
            lambda stub: stub.WatchRuns,
            request,
            unpack,
            reconnect_timeout_s=self._reconnect_timeout_s,
            deadline=deadline,
        )

    def _last_event_seq(self) -> int:
        health = self._connection.call(
            lambda stub: stub.GetHealth,
            pb.GetHealthRequest(),
            retry_timeout_s=self._reconnect_timeout_s,
        )
        return health.last_event_seq

    def _run(self, run_id: str, retry_timeout_s: float | None) -> RunDetails:
        answer = self._connection.call(
            lambda stub: stub.GetRun, pb.RunRef(run_id=run_id), retry_timeout_s=retry_timeout_s
        )
        return from_message(answer, RunDetails)
