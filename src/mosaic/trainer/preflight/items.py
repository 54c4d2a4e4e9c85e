"""Making the items of a preflight report. A check yields none, one or several of them."""

from collections.abc import Iterable, Iterator

from mosaic.contract.readiness import CheckStatus, PreflightItem

Items = Iterator[PreflightItem]


def ok(check: str, message: str) -> PreflightItem:
    """It is as it must be."""
    return PreflightItem(check=check, status=CheckStatus.OK, message=message)


def warning(
    check: str, message: str, remedy: str, *, action: str = "", argument: str = ""
) -> PreflightItem:
    """The run can start, but a person should know."""
    return PreflightItem(
        check=check,
        status=CheckStatus.WARNING,
        message=message,
        remedy=remedy,
        action=action,
        action_argument=argument,
    )


def blocking(
    check: str, message: str, remedy: str, *, action: str = "", argument: str = ""
) -> PreflightItem:
    """The run would fail, or never start."""
    return PreflightItem(
        check=check,
        status=CheckStatus.BLOCKING,
        message=message,
        remedy=remedy,
        action=action,
        action_argument=argument,
    )


def listing(names: Iterable[str]) -> str:
    """Names as a sentence shows them."""
    return ", ".join(f"`{name}`" for name in names) or "none"
