"""Reading and deciding a history of 200 messages, as the gateway does it for each request.

The body is decoded anew for each round, outside of the time that counts, so that no text has a
cached hash; the memory of verdicts is warm. Processor time: other work on the machine is left out.
Run: ``python benchmarks/bench_decide.py``.
"""

from __future__ import annotations

import gc
import json
import statistics
import time

from haltwise import parse_policy
from haltwise.enforce import DIALECTS, VerdictMemory, assess
from haltwise.signals import Lexical
from haltwise.testing.conversations import conversation

STEPS = 100
ROUNDS = 400
RESULTS = [f"Paragraph {i} about something entirely different. " * 8 for i in range(STEPS)]


def milliseconds(dialect: str, memory: VerdictMemory | None) -> list[float]:
    """Return the time of each round, sorted."""
    speaker, signal = DIALECTS[dialect], Lexical()
    policy = parse_policy("streak(500) | deadline(1000)")
    text = json.dumps(conversation(dialect, RESULTS, thought="I will search again for it."))
    times = []
    for _ in range(ROUNDS):
        body = json.loads(text)
        began = time.thread_time()
        assess(speaker.read(body), policy, signal, memory=memory)
        times.append((time.thread_time() - began) * 1000)
    return sorted(times)


def main() -> None:
    """Print the times of each dialect, with the garbage collector set as `serve` sets it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    for dialect in DIALECTS:
        cold = statistics.median(milliseconds(dialect, None)[: ROUNDS // 2])
        times = milliseconds(dialect, VerdictMemory())
        print(
            f"{dialect:10s} warm: p10 {times[ROUNDS // 10]:.3f} ms, "
            f"p50 {statistics.median(times):.3f} ms   without memory: {cold:.3f} ms"
        )


if __name__ == "__main__":
    main()
