"""`python -m echo_worker --config FILE`."""

from __future__ import annotations

import sys

from echo_worker.descriptor import DESCRIPTOR
from echo_worker.echo import echo
from mosaic_worker import main

sys.exit(main(DESCRIPTOR, echo))
