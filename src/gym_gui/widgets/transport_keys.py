"""Which keys move a playhead: the same in the Replay and the Video tab."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from gym_gui.widgets.transport_bar import Transport, next_speed

_LEAP = 10


def act_on_key(event: QKeyEvent, transport: Transport) -> bool:
    """Whether the key meant something; keys with Ctrl, Alt or Meta belong to the window."""
    beyond_shift = event.modifiers() & ~(
        Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
    )
    if beyond_shift:
        return False
    playback = transport.playback
    page = max(1, playback.last // 10)
    stride = _LEAP if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
    steps = {
        Qt.Key.Key_Left: -stride,
        Qt.Key.Key_Right: stride,
        Qt.Key.Key_PageUp: -page,
        Qt.Key.Key_PageDown: page,
        Qt.Key.Key_Home: -playback.last,
        Qt.Key.Key_End: playback.last,
    }
    key = Qt.Key(event.key())
    if key in steps:
        transport.step_by(steps[key])
    elif key is Qt.Key.Key_Space:
        if not event.isAutoRepeat():
            transport.play_or_pause()
    elif key is Qt.Key.Key_L:
        transport.set_looping(not playback.is_looping)
    elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
        transport.set_speed(next_speed(playback.speed, 1))
    elif key is Qt.Key.Key_Minus:
        transport.set_speed(next_speed(playback.speed, -1))
    else:
        return False
    return True
