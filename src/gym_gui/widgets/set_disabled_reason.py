"""Greying: a control that cannot be used now says why, in place of its usual tip."""

from PySide6.QtWidgets import QWidget

_USUAL_TIP = "usual_tip"


def set_disabled_reason(control: QWidget, why_not: str) -> None:
    """Without a reason it can be used, and has its usual tip again."""
    usual = control.property(_USUAL_TIP)
    if why_not:
        if usual is None:
            control.setProperty(_USUAL_TIP, control.toolTip())
        control.setToolTip(why_not)
    elif usual is not None:
        control.setProperty(_USUAL_TIP, None)
        control.setToolTip(usual)
    control.setEnabled(not why_not)
