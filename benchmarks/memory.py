"""Memory of the ingester over millions of lines.

benchmarks/run memory [--lines N]
"""

import argparse
import os
import resource
import tempfile
from pathlib import Path

from report import print_ratio, print_table
from workload import step_lines

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.service import TelemetryService

_PORTIONS = 10
_PAGE_BYTES = resource.getpagesize()


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * _PAGE_BYTES / (1 << 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=5_000_000)
    options = parser.parse_args()
    portion = options.lines // _PORTIONS
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory(Path(folder))
        with TelemetryService(run) as service:
            for number in range(_PORTIONS):
                if os.fork() == 0:  # the writer's memory is not the ingester's
                    with run.spool.open("ab") as file:
                        file.writelines(step_lines(portion, seed=number))
                    os._exit(0)
                os.wait()
                while service.ingest():
                    pass
                rows.append(((number + 1) * portion, resident_mb()))
    print_table("Resident memory of the ingester", ("lines", "MB"), rows)
    sizes = [float(str(size)) for _, size in rows]
    print(f"between smallest and largest: {max(sizes) - min(sizes):.1f} MB  (goal: within 20 MB)")
    print_ratio("last against first", sizes[-1] / sizes[0], "flat")


main()
