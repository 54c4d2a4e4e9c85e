"""Constrained text types of documents that cross a process boundary.

The patterns are also part of the JSON Schema, so they use only syntax that Python and JavaScript
share; `$(?!\\n)` is the end of the text in both.
"""

from typing import Annotated

from msgspec import Meta

from mosaic.contract.validation import EXPECTED

# Control characters, line separators and bidirectional formatting characters.
_UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_NAME = rf"^[^{_UNPRINTABLE}]+$(?!\n)"
_IDENTIFIER = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$(?!\n)"
_ENV_ID = r"^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_:./-]*$(?!\n)"
_ULID = r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$(?!\n)"
_MODULE = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$(?!\n)"
_INSIDE = rf"^(?!/)(?![A-Za-z]:)(?!(.*/)?\.\.(/|$))[^{_UNPRINTABLE}\\]+$(?!\n)"
_WEB_ADDRESS = rf"^https?://[^\s{_UNPRINTABLE}]+$(?!\n)"

Name = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=_NAME,
        extra={EXPECTED: "text of 1 to 200 characters without control characters"},
    ),
]
Identifier = Annotated[
    str,
    Meta(
        max_length=100,
        pattern=_IDENTIFIER,
        extra={EXPECTED: "an id of up to 100 letters, digits, '_', '-' and '.'"},
    ),
]
ShortText = Annotated[
    str, Meta(max_length=1_000, extra={EXPECTED: "text of up to 1,000 characters"})
]
LongText = Annotated[
    str, Meta(max_length=200_000, extra={EXPECTED: "text of up to 200,000 characters"})
]
EnvId = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=_ENV_ID,
        extra={EXPECTED: 'an environment id such as "CartPole-v1", "ALE/Pong-v5" or "module:Id"'},
    ),
]
Ulid = Annotated[
    str,
    Meta(
        pattern=_ULID,
        extra={EXPECTED: "a run id of 26 upper-case letters and digits (`mosaic runs list`)"},
    ),
]
ModuleName = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=_MODULE,
        extra={EXPECTED: 'a module name such as "cleanrl_worker.cli"'},
    ),
]
FilePath = Annotated[
    str,
    Meta(
        max_length=4096,
        pattern=_NAME,
        extra={EXPECTED: "a path without control characters"},
    ),
]
PathInside = Annotated[
    str,
    Meta(
        max_length=4096,
        pattern=_INSIDE,
        extra={EXPECTED: "a path relative to the run directory, with '/' and without '..'"},
    ),
]
WebAddress = Annotated[
    str,
    Meta(
        max_length=2048,
        pattern=_WEB_ADDRESS,
        extra={EXPECTED: "an address that starts with http:// or https://"},
    ),
]
