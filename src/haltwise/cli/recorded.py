"""Recorded loops for a command: read, filtered, judged by ``--signal`` and told apart by kind.

Knows paths and filters; ignorant of what the command does with the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from ..core.errors import InputError
from ..record.episode import AnyEpisode, RepairEpisode, SearchEpisode
from ..record.outcomes import Outcomes
from ..record.read import read, value_of
from ..record.skip import Skip
from .output import reasons
from .signal import signal_named, signal_option
from .terminal import counter
from .where import filters, where_option

STRIDE = 256
"""Records after which the reader of a terminal hears how many there were."""

__all__ = ["Recorded", "signal_option", "where_option"]


class Recorded:
    """The loops of some files. Iterate once.

    Afterwards what was passed over is in `skips`, and in `others` how many loops were not of the
    kind that was wanted.
    """

    def __init__(
        self,
        paths: Sequence[str],
        where: Sequence[str],
        signal: str | None = None,
        format_: str | None = None,
        outcomes: Outcomes | None = None,
    ) -> None:
        """Take paths, filters, the signal whose verdicts count, a reader, and outcomes.

        Raises:
            InputError: a filter is not KEY=VALUE.
        """
        self.paths = list(paths)
        self.skips: list[Skip] = []
        self.filters = filters(where)
        self.signal = signal
        self.outcomes = outcomes
        self.others = 0
        self.format = format_

    def __iter__(self) -> Iterator[AnyEpisode]:
        """Yield the episodes that pass the filters."""
        with counter("records read") as count:
            for number, item in enumerate(read(self.paths, self.format), start=1):
                if number % STRIDE == 0:
                    count(number)
                if isinstance(item, Skip):
                    self.skips.append(item)
                elif all(value_of(item, key) == value for key, value in self.filters.items()):
                    yield item if self.outcomes is None else self.outcomes.over(item)

    def kind(self) -> str:
        """Return the kind of the loops, for rules that fit either.

        Raises:
            InputError: there are loops of both kinds, or none.
        """
        found = {isinstance(episode, SearchEpisode) for episode in self}
        self_skips, self.skips = self.skips, []
        if len(found) > 1:
            raise InputError(
                f"{', '.join(self.paths)}: search and verify-repair loops together; "
                "name files of one kind"
            )
        if not found:
            self.skips = self_skips
            raise self.nothing("loop")
        return "search" if found.pop() else "repair"

    def search(self) -> Iterator[SearchEpisode]:
        """Yield the search loops; how many repair loops there were is one skip."""
        others = 0
        judged = _judged(self.signal)
        for episode in self:
            if isinstance(episode, SearchEpisode):
                yield judged(episode)
            else:
                others += 1
        self._other(others, "verify-repair loops; search loops are wanted here")

    def repair(self) -> Iterator[RepairEpisode]:
        """Yield the verify-repair loops; how many search loops there were is one skip."""
        others = 0
        for episode in self:
            if isinstance(episode, RepairEpisode):
                yield episode
            else:
                others += 1
        self._other(others, "search loops; verify-repair loops are wanted here")

    def nothing(self, wanted: str) -> InputError:
        """Return the error for files that hold no usable loop: what was wanted, and why not."""
        where = " ".join(f"--where {key}={value}" for key, value in self.filters.items())
        condition = f" with {where}" if where else ""
        return InputError(f"no {wanted} in {', '.join(self.paths)}{condition}{reasons(self.skips)}")

    def _other(self, count: int, what: str) -> None:
        self.others = count
        if count:
            self.skips.append(Skip(", ".join(self.paths), None, f"{count} {what}"))


def _judged(name: str | None) -> Callable[[SearchEpisode], SearchEpisode]:
    """Return what replaces an episode's verdicts by those of the signal ``name``, if there is one.

    None leaves every episode as it is.
    """
    signal = signal_named(name)
    if signal is None:
        return lambda episode: episode
    from ..audit.judging import JudgedBy

    judge = JudgedBy(signal)

    def judged(episode: SearchEpisode) -> SearchEpisode:
        steps = [
            replace(
                step,
                verdicts={k: v for k, v in step.verdicts.items() if k == signal.name},
            )
            for step in judge(episode).steps
        ]
        return replace(episode, steps=steps)

    return judged
