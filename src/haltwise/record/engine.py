"""Work on parts of the input side by side: processes of this machine, or a Ray cluster.

Both are backends of joblib. Knows nothing of what the work is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Literal, TypeVar

from ..core.errors import InputError

Engine = Literal["local", "ray"]
ENGINES: tuple[Engine, ...] = ("local", "ray")
"""What ``--engine`` takes."""

Part = TypeVar("Part")
Made = TypeVar("Made")


def side_by_side(
    work: Callable[[Part], Made], parts: Iterable[Part], workers: int, engine: Engine = "local"
) -> Iterator[Made]:
    """Yield ``work(part)`` for every part, in order.

    With one local worker the work is done here, part by part as the results are asked for.

    Args:
        work: a function that can be pickled, as its results can.
        parts: taken as they are needed.
        workers: how many work at a time.
        engine: "local" for processes of this machine, "ray" for tasks of the Ray cluster that
            ``RAY_ADDRESS`` names (without one, Ray starts on this machine). The nodes must see the
            same files.

    Raises:
        InputError: Ray is not installed.
    """
    if engine == "ray":
        return _on_ray(work, iter(parts), workers)
    if workers == 1:
        return map(work, parts)
    from joblib import Parallel, delayed

    done: Iterator[Made] = Parallel(n_jobs=workers, return_as="generator")(
        delayed(work)(part) for part in parts
    )
    return done


_WAVE = 8
"""Parts for each worker that Ray is given at a time, for its backend returns them together."""


def _on_ray(work: Callable[[Part], Made], parts: Iterator[Part], workers: int) -> Iterator[Made]:
    try:
        from ray.util.joblib import register_ray
    except ImportError:
        raise InputError("--engine ray needs Ray; type: pip install 'haltwise[ray]'") from None
    from joblib import Parallel, delayed

    register_ray()
    with Parallel(n_jobs=workers, backend="ray") as parallel:
        while wave := list(islice(parts, _WAVE * workers)):
            yield from parallel(delayed(work)(part) for part in wave)
