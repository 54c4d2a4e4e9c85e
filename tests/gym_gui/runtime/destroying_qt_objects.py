"""A program that destroys Qt objects right after closing a `UiCollection`.

`test_ui_collection` runs it in a separate process, because it hangs if the automatic collector
runs inside a destructor: each receiver is destroyed while it holds its mutex and calls
`disconnectNotify` of its sender, and each garbage pair locks two mutexes of the same pool.
"""

from PySide6.QtCore import QCoreApplication, QMetaMethod, QObject, Signal

from gym_gui.runtime.ui_collection import UiCollection

ROUNDS = 20
GARBAGE_PAIRS = 300
"""Qt has 131 mutexes for all objects, so at least one pair uses any given mutex."""


class Node(QObject):
    """Sends to another node. The override makes PySide allocate inside of `~QObject`."""

    sent = Signal(int)
    partner: "Node | None" = None

    def receive(self, value: int) -> None:
        """Never called."""

    def disconnectNotify(self, signal: QMetaMethod) -> None:  # noqa: N802 - Qt's name
        super().disconnectNotify(signal)


def connected_pair() -> tuple[Node, Node]:
    sender, receiver = Node(), Node()
    sender.sent.connect(receiver.receive)
    return sender, receiver


def make_garbage() -> None:
    for _ in range(GARBAGE_PAIRS):
        first, second = connected_pair()
        first.partner, second.partner = second, first


def main() -> None:
    app = QCoreApplication([])
    for _ in range(ROUNDS):
        collection = UiCollection()
        pairs = [connected_pair() for _ in range(20)]
        senders, receivers = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        pairs.clear()
        make_garbage()
        collection.close()
        receivers.clear()
        senders.clear()
    print("done")
    del app


if __name__ == "__main__":
    main()
