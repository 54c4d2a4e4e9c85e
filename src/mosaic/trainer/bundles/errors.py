"""Errors of installations, with explanations of pip's output."""

import re
from collections.abc import Sequence
from pathlib import Path

from mosaic.contract.errors import UserError

INDEX_UNREACHABLE = "T323"
"""A package of a bundle could not be fetched: the package index cannot be reached."""
DISK_FULL = "T324"
"""A bundle could not be installed: the disk is full."""
ENVIRONMENT_NOT_MADE = "T337"
"""The environment of a bundle cannot be created because of a file system error."""

_FULL = re.compile(r"No space left on device|Errno 28\b|Disk quota exceeded|Errno 122\b")
_NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|ConnectionError"
    r"|Connection refused|Connection broken|Network is unreachable|Max retries exceeded|timed out"
    r"|Temporary failure in name resolution|Name or service not known|Could not fetch URL"
)
_NOT_FOUND = re.compile(r"No matching distribution found for (?P<package>.+?)(?: \(from .*)?\Z")
_COLLECTING = re.compile(r"Collecting (?P<package>\S+)")
_NOT_BUILT = re.compile(r"Failed (?:to build|building wheel for) '?(?P<package>[\w.-]+)")
_OTHER_HASH = re.compile(r"DO NOT MATCH THE HASHES")
_CONFLICT = re.compile(r"ResolutionImpossible|conflicting dependencies")
_LINES_SHOWN = 4


def installation_cancelled() -> UserError:
    return UserError(
        "The installation was cancelled.", remedy="Start it again at any time.", code="T325"
    )


def installation_failed(name: str, output: Sequence[str], log: Path) -> UserError:
    """The error that pip's output describes."""
    sentence, remedy, code = _explain(output)
    output_text = " | ".join(_error_lines(output)) or "nothing"
    return UserError(
        f"The bundle {name} could not be installed: {sentence} pip output: {output_text}",
        remedy=f"{remedy} All of its output is in {log}.",
        code=code,
    )


def environment_failed(name: str, error: OSError) -> UserError:
    """An error of the file system or the operating system."""
    is_full = _FULL.search(str(error)) is not None
    return UserError(
        f"The environment of the bundle {name} cannot be created: {error}.",
        remedy="Free some space and try again." if is_full else "Check the folder of the home.",
        code=DISK_FULL if is_full else ENVIRONMENT_NOT_MADE,
    )


def _explain(output: Sequence[str]) -> tuple[str, str, str]:
    """A message, a remedy and a code."""
    text = "\n".join(output)
    missing = _last(_NOT_FOUND, output)
    if _FULL.search(text):
        return "the disk is full.", "Free some space and try again.", DISK_FULL
    if _NO_NETWORK.search(text):
        package = missing or _last(_COLLECTING, output) or "a package"
        return (
            f"{package} could not be downloaded, the package index cannot be reached.",
            "Connect to the network, or set PIP_FIND_LINKS to a folder with the wheels.",
            INDEX_UNREACHABLE,
        )
    if missing:
        return (
            f"there is no {missing} for this Python in the package index.",
            "Check the version in the requirements, the network, and pip's settings (`PIP_*`).",
            "T322",
        )
    if _OTHER_HASH.search(text):
        return (
            "a package does not match the hash in the requirements.",
            "Generate the requirements again, or find out why the package has changed.",
            "T322",
        )
    if _CONFLICT.search(text):
        return (
            "its packages have conflicting dependencies.",
            "Change the versions in the requirements, or leave out an extra.",
            "T322",
        )
    unbuilt = _last(_NOT_BUILT, output)
    if unbuilt:
        return (
            f"{unbuilt} has no wheel for this Python and could not be built.",
            "Install the compilers and libraries that it needs, or choose another version.",
            "T322",
        )
    return "pip failed.", "Fix the reported error and try again.", "T322"


def _last(pattern: re.Pattern[str], output: Sequence[str]) -> str:
    found = [match["package"] for line in output if (match := pattern.search(line))]
    return found[-1] if found else ""


def _error_lines(output: Sequence[str]) -> Sequence[str]:
    """The lines that pip marks as errors; otherwise its last ones."""
    lines = [line.strip() for line in output if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR", "error"))]
    return [line[:300] for line in (errors or lines)[-_LINES_SHOWN:]]
