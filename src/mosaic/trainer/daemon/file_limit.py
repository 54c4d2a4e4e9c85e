"""How many files the daemon may have open: each run and each stream needs some."""

import logging
import resource

_log = logging.getLogger(__name__)

_MOST = 65_536
"""Programs that a worker starts may go through all numbers up to the limit, which they inherit."""


def raise_file_limit() -> int:
    """Raise the soft limit as far as the hard one allows; what it is then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError) as error:
        _log.warning("T358 no more than %d files may be open at once: %s", soft, error)
        return soft
    _log.info("T359 up to %d files may be open at once, instead of %d", wanted, soft)
    return wanted
