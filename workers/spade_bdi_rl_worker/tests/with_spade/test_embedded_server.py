"""The embedded server: on loopback, for the agents of the run, without leftover files."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop
from counting_learner import Control, CountingLearner, ListSink

from spade_bdi_rl_worker.messaging.stub_imports import import_spade

import_spade()

from spade.xmpp_client import XMPPClient  # noqa: E402 - after `import_spade`

from mosaic_worker.errors import WorkerError  # noqa: E402
from spade_bdi_rl_worker.agent import run_agents, runner  # noqa: E402
from spade_bdi_rl_worker.messaging.embedded_server import EmbeddedServer  # noqa: E402
from spade_bdi_rl_worker.settings import AgentSettings  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

TIMEOUT_S = 20
_LISTENING = "0A"


def listening_addresses() -> set[tuple[str, int]]:
    """Return the addresses on which this process listens, from the kernel's table."""
    own = {_socket(link) for link in Path("/proc/self/fd").iterdir()}
    addresses = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == _LISTENING and columns[9] in own:
                host, port = columns[1].split(":")
                addresses.add((host, int(port, 16)))
    return addresses


def _socket(link: Path) -> str:
    """Return the inode of the socket of a descriptor."""
    try:
        return str(link.readlink()).removeprefix("socket:[").rstrip("]")
    except OSError:
        return ""


def with_server(use: Callable[[EmbeddedServer, Any], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        server = EmbeddedServer()
        address = await server.start()
        try:
            await asyncio.wait_for(use(server, address), TIMEOUT_S)
        finally:
            await server.stop()

    uvloop.run(main())


async def first_event(client: XMPPClient, address: Any, *names: str) -> str:
    """Return the first of these events for a client that connects."""
    event: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def handler(name: str) -> Any:
        return lambda _: None if event.done() else event.set_result(name)

    for name in names:
        client.add_event_handler(name, handler(name))
    client.connect(host=address.host, port=address.port)
    try:
        return await event
    finally:
        client.abort()
        client.cancel_connection_attempt()


class EmbeddedServerTest(unittest.TestCase):
    def test_listens_only_on_loopback(self) -> None:
        """One socket on 127.0.0.1: no other interface, no admin page, no server-to-server port."""

        async def use(_: EmbeddedServer, address: Any) -> None:
            self.assertEqual(listening_addresses(), {("0100007F", address.port)})

        with_server(use)
        self.assertEqual(listening_addresses(), set())

    def test_limits_data_before_login(self) -> None:
        """A client without an account cannot make the server buffer an endless element."""

        async def use(server: EmbeddedServer, address: Any) -> None:
            _, writer = await asyncio.open_connection(address.host, address.port)
            opening = b"<stream:stream xmlns='jabber:client' to='localhost' version='1.0'"
            writer.write(opening + b" xmlns:stream='http://etherx.jabber.org/streams'><a b='")
            sent = 0
            with self.assertRaises(ConnectionError):
                while sent < 50 << 20:
                    writer.write(b"x" * 65536)
                    sent += 65536
                    await writer.drain()
            self.assertLess(sent, 20 << 20)  # buffered by the kernel
            writer.close()
            await server.add_account("anna", "secret")
            client = XMPPClient("anna@localhost", "secret", False, False)
            event = await first_event(client, address, "session_start", "failed_all_auth")
            self.assertEqual(event, "session_start")

        with_server(use)

    def test_limits_clients_that_do_not_log_in(self) -> None:
        """Each of them costs memory; an agent of the run can still connect afterwards."""

        async def use(server: EmbeddedServer, address: Any) -> None:
            connections = []
            closed = 0
            for _ in range(80):
                reader, writer = await asyncio.open_connection(address.host, address.port)
                connections.append((reader, writer))
            for reader, _ in connections[64:]:
                with contextlib.suppress(ConnectionError):
                    self.assertEqual(await reader.read(1), b"")
                closed += 1
            self.assertEqual(closed, 16)
            for _, writer in connections:
                writer.close()
            await server.add_account("anna", "secret")
            event = ""
            while event != "session_start":
                client = XMPPClient("anna@localhost", "secret", False, False)
                names = ("session_start", "failed_all_auth", "disconnected")
                event = await first_event(client, address, *names)

        with_server(use)

    def test_changes_no_signal_handler_and_starts_no_process(self) -> None:
        """Signals reach the run as before, and there is no child process."""
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGABRT)
        before = [signal.getsignal(number) for number in numbers]
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text

        async def use(server: EmbeddedServer, address: Any) -> None:
            await server.add_account("anna", "secret")
            client = XMPPClient("anna@localhost", "secret", False, False)
            event = await first_event(client, address, "session_start", "failed_all_auth")
            self.assertEqual(event, "session_start")
            self.assertEqual(children(), "")

        with_server(use)
        self.assertEqual([signal.getsignal(number) for number in numbers], before)

    def test_writes_no_files(self) -> None:
        """No key, certificate or database in the packages or the working directory."""
        import pyjabber  # noqa: PLC0415 - only for its path

        folder = Path(str(pyjabber.__file__)).parent
        keys = sorted(folder.rglob("*.pem"))
        here = sorted(Path.cwd().iterdir())

        async def use(_: EmbeddedServer, __: Any) -> None:
            pass

        with_server(use)
        self.assertEqual(sorted(folder.rglob("*.pem")), keys)
        self.assertEqual(sorted(Path.cwd().iterdir()), here)

    def test_registration_is_rejected(self) -> None:
        """Other users get no account, and no session with a wrong password."""

        async def use(server: EmbeddedServer, address: Any) -> None:
            await server.add_account("anna", "secret")
            for name, password, registers in (("eve", "x", True), ("anna", "guess", False)):
                client = XMPPClient(f"{name}@localhost", password, False, registers)
                event = await first_event(
                    client, address, "session_start", "failed_all_auth", "disconnected"
                )
                self.assertNotEqual(event, "session_start", name)

        with_server(use)

    def test_two_at_once(self) -> None:
        """Servers use free ports, so they do not conflict."""
        with socket.create_server(("127.0.0.1", 0)) as other:

            async def use(_: EmbeddedServer, address: Any) -> None:
                self.assertNotEqual(address.port, other.getsockname()[1])

            with_server(use)


class LostServerTest(unittest.TestCase):
    def test_the_server_stops_during_the_run(self) -> None:
        """The run fails with a remedy, saves a checkpoint, and leaves no threads."""
        learner, sink = CountingLearner(10**9), ListSink()
        servers: list[EmbeddedServer] = []
        start = EmbeddedServer.start

        async def capture_server(server: EmbeddedServer) -> Any:
            servers.append(server)
            return await start(server)

        self.addCleanup(setattr, EmbeddedServer, "start", start)
        setattr(EmbeddedServer, "start", capture_server)  # noqa: B010 - for mypy
        learn = learner.learn

        def learn_then_stop_server(episodes: int, should_continue: Any) -> Any:
            if len(learner.batches) == 3:
                loop.call_soon_threadsafe(lambda: asyncio.ensure_future(servers[0].stop()))
            return learn(episodes, should_continue)

        setattr(learner, "learn", learn_then_stop_server)  # noqa: B010
        loop: Any = None
        run_team = runner._run_team

        async def capture_loop(*arguments: Any) -> None:
            nonlocal loop
            loop = asyncio.get_running_loop()
            await run_team(*arguments)

        self.addCleanup(setattr, runner, "_run_team", run_team)
        setattr(runner, "_run_team", capture_loop)  # noqa: B010
        with self.assertRaises(WorkerError) as raised:
            run_agents(learner, AgentSettings(xmpp="embedded", batch_episodes=50), sink, Control())  # type: ignore[arg-type]

        self.assertIn("lost its connection to the XMPP server", raised.exception.message)
        self.assertTrue(raised.exception.remedy)
        self.assertEqual(learner.saved, ["the run failed"])
        self.assertEqual(listening_addresses(), set())
        self.assertEqual(threading.enumerate(), [threading.main_thread()])


if __name__ == "__main__":
    unittest.main()
