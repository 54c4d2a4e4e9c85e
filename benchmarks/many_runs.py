"""Fifty concurrent runs with 1,000 lines per second each, all followed by subscribers.

python benchmarks/many_runs.py [RUNS] [LINES_PER_SECOND] [SECONDS]

The latency of a line is measured from its own timestamp until a subscriber receives it.
One process follows all runs, as the window does; its own delay counts.
Starting fifty interpreters uses all CPUs for a while. The goal is for running workers, so lines
count once all of them run; the numbers for all lines are shown as well.
"""

import sys
import threading
import time

from report import percentile, print_table
from throwaway_daemon import cpu_seconds, echo_config, resident_mb, throwaway_daemon

from mosaic.client import TrainerClient

GOAL_MS = 500.0
SETTLE_S = 8.0


class Subscriber(threading.Thread):
    """Follows one run from its first to its last line."""

    def __init__(self, client: TrainerClient, run_id: str) -> None:
        super().__init__(name=run_id)
        self.client = client
        self.run_id = run_id
        self.delays_ms: list[tuple[float, float]] = []
        self.seqs: list[int] = []

    def run(self) -> None:
        with self.client.step_lines(self.run_id, follow=True) as lines:
            for seq, line in lines:
                written = line.rfind(b'"t":')
                if written > 0:
                    t = float(line[written + 4 : -1])
                    self.delays_ms.append((t, (time.time() - t) * 1000))
                self.seqs.append(seq)


def main() -> None:
    count, rate, seconds = [int(value) for value in sys.argv[1:4]] + [50, 1000, 30][
        len(sys.argv) - 1 :
    ]
    total = rate * seconds
    options = ["--max-runs", str(count), "--cpus", str(count)]
    with throwaway_daemon(options) as (client, _):
        pid = client.health().pid
        config = echo_config(steps=total, rate=rate, episode_length=200)
        runs = [client.submit(config) for _ in range(count)]
        subscribers = [Subscriber(client, run.run_id) for run in runs]
        for subscriber in subscribers:
            subscriber.start()
        while any(not subscriber.seqs for subscriber in subscribers):
            time.sleep(0.1)
        time.sleep(SETTLE_S)
        all_go = time.time()
        memory = []
        used, started_at = cpu_seconds(pid), time.monotonic()
        while any(subscriber.is_alive() for subscriber in subscribers):
            time.sleep(1.0)
            memory.append(resident_mb(pid))
        used, elapsed = cpu_seconds(pid) - used, time.monotonic() - started_at
        stored = sum(client.stats(run.run_id).steps for run in runs)
        states = {client.wait(run.run_id, 60).state for run in runs}
    received = sum(len(subscriber.seqs) for subscriber in subscribers)
    ordered = all(subscriber.seqs == sorted(set(subscriber.seqs)) for subscriber in subscribers)
    samples = [pair for subscriber in subscribers for pair in subscriber.delays_ms]
    everything = [delay for _, delay in samples]
    delays = [delay for t, delay in samples if t >= all_go]
    third = max(1, len(memory) // 3)
    print_table(
        f"{count} runs, {rate:,} lines a second each, {total:,} lines each",
        ("", "measured"),
        [
            ("lines written", total * count),
            ("lines stored", stored),
            ("lines received", received),
            ("complete and in order", "yes" if ordered else "NO"),
            ("final states", ", ".join(sorted(states))),
            ("line to subscriber, p50 ms", percentile(delays, 0.5)),
            ("line to subscriber, p99 ms", percentile(delays, 0.99)),
            ("line to subscriber, worst ms", max(delays)),
            ("lines of that time", len(delays)),
            ("p99 ms with the start of all runs", percentile(everything, 0.99)),
            ("daemon's MB, first third (largest)", max(memory[:third])),
            ("daemon's MB, last third (largest)", max(memory[-third:])),
            ("daemon's processor use, %", used / elapsed * 100),
            ("seconds", elapsed),
        ],
    )
    print(f"p99: {percentile(delays, 0.99) / GOAL_MS:.2f} of the goal of {GOAL_MS:.0f} ms")
    print(f"memory, last third against first: {max(memory[-third:]) / max(memory[:third]):.2f} x")
    print(f"share of written lines that are stored: {stored / (total * count):.4f}")


if __name__ == "__main__":
    main()
