"""The side channel for recorded results: a model is asked about each of them, once.

A recording has no conversation to make a copy of, so that the question shows the result itself. A
verdict is kept under a hash of its content, in a file if one is named, so that no result is asked
about twice; a failure or a spent budget leaves a result unjudged and is counted. Ignorant of how
the model is reached.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ..core.errors import HaltwiseError, InputError
from ..core.events import Verdict
from .lexical import says_nothing_found
from .protocol import SignalStep
from .side_channel import step_key, verdict_of

READ = 4000
"""Characters of a result that are shown, from its beginning."""
_IN_A_ROW = 3
_PROMPT = """\
An agent searches for the answer to a question. Look only at what its tool call returned.

Question: {question}

What the tool returned:
{result}

Does it contain anything that helps to answer the question? Reply with one word: yes or no."""


class Asked:
    """Verdicts of a model on recorded results.

    Attributes:
        asked: questions put to the model.
        failed: those that brought no reply.
        left: results that were not asked about: the budget was spent, or the model gone.
        why: what the last failure said.
    """

    name = "side_channel"

    def __init__(
        self,
        ask: Callable[[str], str],
        model: str,
        *,
        budget: int = 1000,
        memory: Path | None = None,
    ) -> None:
        """Take the model and what is known already.

        Args:
            ask: from the question to the model's reply; raises a `HaltwiseError` where it fails.
            model: names the model, for verdicts belong to who gave them.
            budget: questions allowed in all.
            memory: file of verdicts by content; read at once, added to with every verdict.

        Raises:
            InputError: the file cannot be read or written.
        """
        self._ask, self._model, self._budget, self._memory = ask, model, budget, memory
        self.asked = self.failed = self.left = 0
        self.why = ""
        self._row = 0
        self._known: dict[str, Verdict] = {}
        if memory is not None:
            try:
                memory.parent.mkdir(parents=True, exist_ok=True)
                with memory.open("a+", encoding="ascii") as file:
                    file.seek(0)
                    for line in file:
                        self._learn(line)
            except OSError as error:
                raise InputError(f"{memory}: {error.strerror}; verdicts are kept there") from None

    def __repr__(self) -> str:
        return f"Asked({self._model!r}, budget={self._budget})"

    def judge(self, step: SignalStep) -> Verdict:
        """Return what is known of the step, or ask about it."""
        if not step.results or not step.question.strip():
            return Verdict.UNJUDGED
        if all(map(says_nothing_found, step.results)):
            return Verdict.USELESS
        key = step_key(step).hex()
        if key in self._known:
            return self._known[key]
        if self.asked >= self._budget or self._row >= _IN_A_ROW:
            self.left += 1
            return Verdict.UNJUDGED
        self.asked += 1
        shown = "\n\n".join(step.results)[:READ]
        try:
            verdict = verdict_of(self._ask(_PROMPT.format(question=step.question, result=shown)))
        except HaltwiseError as error:
            self.failed, self._row, self.why = self.failed + 1, self._row + 1, str(error)
            return Verdict.UNJUDGED
        self._row = 0
        self._known[key] = verdict
        if self._memory is not None:
            with self._memory.open("a", encoding="ascii") as file:
                file.write(json.dumps({"key": key, "verdict": verdict}) + "\n")
        return verdict

    def _learn(self, line: str) -> None:
        """Take in a line of the memory; half a line, where a run was killed, is no verdict."""
        try:
            row = json.loads(line)
            self._known[row["key"]] = Verdict(row["verdict"])
        except (ValueError, LookupError, TypeError):
            return
