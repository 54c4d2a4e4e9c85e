"""A learner as a script: flags by tyro, files into the current directory.

Every learner ends with `run_script(Args, train)`; MOSAIC calls its `train` instead.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cleanrl_worker.learner_catalog import is_large
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.session import Session

    AnyArgs = TypeVar("AnyArgs", bound=SharedArgs)


def run_script(args_type: type[AnyArgs], train: Callable[[AnyArgs, Session], Any]) -> None:
    import tyro  # noqa: PLC0415 - only a script has flags of its own

    from cleanrl_worker.session.script_outlet import ScriptOutlet  # noqa: PLC0415
    from cleanrl_worker.session.session import Session  # noqa: PLC0415

    args = tyro.cli(args_type)
    algo = Path(sys.argv[0]).stem
    try:
        session = Session(algo, args, ScriptOutlet(), is_large=is_large(algo))
        try:
            train(args, session)
        finally:
            session.close()
    except WorkerError as error:
        sys.exit(f"{algo}: {error.message} {error.remedy}".rstrip())
