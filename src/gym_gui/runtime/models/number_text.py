"""Numbers as people read them: a true minus sign, thousands apart, no more digits than help."""

import math

from mosaic.contract.formatting import format_size

_MINUS = "\N{MINUS SIGN}"
_PLAIN_BELOW = 1e6
_PLAIN_FROM = 1e-4


def fixed(value: float, digits: int = 1) -> str:
    """`-1,234.5` with a true minus sign."""
    return f"{value:,.{digits}f}".replace("-", _MINUS)


def rounded(value: float, digits: int = 2) -> str:
    """As `fixed`, without zeros at the end."""
    text = fixed(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(value: float) -> str:
    """`+1.84`, `-0.3`: for what is gained and lost."""
    text = significant(value)
    return f"+{text}" if value > 0 else text


def significant(value: float) -> str:
    """Four digits that count; whole numbers whole."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return f"{_MINUS if value < 0 else ''}infinity"
    if value == int(value) and abs(value) < _PLAIN_BELOW:
        return f"{int(value):,}".replace("-", _MINUS)
    if _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        digits = max(0, 3 - math.floor(math.log10(abs(value))))
        return fixed(value, min(digits, 6)).rstrip("0").rstrip(".")
    return f"{value:.3g}".replace("-", _MINUS)


size = format_size
