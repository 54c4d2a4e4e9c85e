"""`python -m cleanrl_worker --config FILE`."""

from __future__ import annotations

import sys

from cleanrl_worker.cli import run_worker

sys.exit(run_worker())
