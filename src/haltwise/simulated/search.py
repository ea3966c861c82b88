"""Simulated search agents: stopping behaviour, answers and recovery times are all known.

An agent searches a source that may fail, a judge with known error rates calls each result useful
or useless, and the agent answers next with a known probability that depends on the position t and
the run r of useless verdicts. What a forced answer would have been worth is recorded at every
step. Knows nothing of policies or of estimation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..core.errors import ParameterError
from ..core.events import Verdict
from ..record.episode import AnswerNow, Outcome, SearchEpisode, SearchStep
from .faults import MEAN6, failing
from .label import model_name

NOTE = "simulated agent, no model acted: verdicts, answers and faults are drawn from known rates"


@dataclass(frozen=True)
class SearchAgent:
    """How a simulated agent behaves. Probabilities are in [0, 1]."""

    name: str
    """Its label; the recorded model is ``simulated:NAME``."""
    hazard: tuple[tuple[float, ...], ...]
    """P(the next action is the answer) by ``[t - 1][r]``: t results so far, r useless in a row.

    ``budget - 1`` rows of at least t + 1 entries; the budget follows from it."""
    from_memory: float = 0.1
    """q, P(a question is answered right without any helpful result); the same in all regimes."""
    from_evidence: float = 0.7
    """P(an answer is right once a helpful result was seen)."""
    helpful: float = 0.6
    """P(a result of a working source helps); a failed source never does."""
    useless_if_helpful: float = 0.1
    """The judge's error: P(verdict USELESS | the result helps)."""
    useless_if_not: float = 0.97
    """P(verdict USELESS | the result does not help)."""

    def __post_init__(self) -> None:
        if not self.hazard or any(len(row) < t + 2 for t, row in enumerate(self.hazard)):
            raise ParameterError(
                "SearchAgent: hazard has a row for every t from 1, with entries for r = 0..t"
            )
        rates = [rate for row in self.hazard for rate in row]
        rates += [self.from_memory, self.from_evidence, self.helpful]
        rates += [self.useless_if_helpful, self.useless_if_not]
        if not all(0 <= rate <= 1 for rate in rates):
            raise ParameterError("SearchAgent: every rate is a probability from 0 to 1")

    @property
    def budget(self) -> int:
        """Actions allowed, the final answer included."""
        return len(self.hazard) + 1


def logit_hazard(
    by_t: Sequence[float], slope: float, *, found: float = 0.5
) -> tuple[tuple[float, ...], ...]:
    """Return a hazard table whose logit is ``by_t[t - 1] + slope * r`` for r >= 1.

    These are the parameters that the audit's hazard regression estimates. After a result that was
    not useless (r = 0) the agent answers with probability ``found``.
    """
    return tuple(
        (found, *(float(1 / (1 + np.exp(-(level + slope * r)))) for r in range(1, t + 1)))
        for t, level in enumerate(by_t, start=1)
    )


def threshold_hazard(
    k: int, budget: int, *, before: float = 0.02, found: float = 0.5
) -> tuple[tuple[float, ...], ...]:
    """Return a hazard table that answers for certain at r >= k, as an enforced rule does."""
    return tuple(
        (found, *(1.0 if r >= k else before for r in range(1, t + 1))) for t in range(1, budget)
    )


IGNORES = SearchAgent(
    "ignores-verdicts", logit_hazard([-3.0, -2.6, -2.5, -1.6, -1.4, -0.9, -0.5], -0.74)
)
"""Calls results useless and searches on: the longer the run, the less likely the answer."""

HEEDS = SearchAgent("heeds-verdicts", logit_hazard([-4.0, -4.0, -4.0, -4.0, -4.0, -4.0, -4.0], 0.9))
"""Gives up more readily with every further useless result."""

ENFORCED = SearchAgent("enforced-at-5", threshold_hazard(5, 8))
"""Stopped from outside after five useless results in a row."""


@dataclass(frozen=True)
class SearchRuns:
    """Simulated episodes as arrays; n episodes of at most ``budget`` actions."""

    agent: SearchAgent
    """Who acted."""
    regimes: tuple[str, ...]
    """The fault regimes; `regime` counts in this order."""
    seed: int
    """The seed that the episodes were drawn with."""
    question: npt.NDArray[np.int64]
    """Question of each episode, from 0; shape (n,). Every question meets every regime."""
    regime: npt.NDArray[np.int64]
    """Index into `regimes`, shape (n,)."""
    results: npt.NDArray[np.int64]
    """Tool results seen, from 1 to budget; shape (n,)."""
    answered: npt.NDArray[np.bool_]
    """Whether the episode ends with an answer rather than with its budget; shape (n,)."""
    useless: npt.NDArray[np.bool_]
    """Verdicts, shape (n, budget); columns from ``results`` on were never seen."""
    failed: npt.NDArray[np.bool_]
    """Whether the source failed, shape (n, budget): the truth behind the verdicts."""
    answer_now: npt.NDArray[np.bool_]
    """Whether an answer forced after result t would be right, shape (n, budget)."""
    success: npt.NDArray[np.bool_]
    """Whether the episode's own answer was right; shape (n,)."""

    def __len__(self) -> int:
        return len(self.question)

    def episodes(self) -> Iterator[SearchEpisode]:
        """Yield the runs as episodes, with an answer-now branch at every result."""
        name, words = model_name(self.agent.name), (Verdict.USEFUL, Verdict.USELESS)
        for i in range(len(self)):
            question, regime = f"question-{self.question[i]:06d}", self.regimes[self.regime[i]]
            seen = int(self.results[i])
            steps = [
                SearchStep(
                    t=t + 1,
                    action="search",
                    verdicts={"recorded": words[useless]},
                    answer_now=AnswerNow(success=right),
                )
                for t, (useless, right) in enumerate(
                    zip(
                        self.useless[i, :seen].tolist(),
                        self.answer_now[i, :seen].tolist(),
                        strict=True,
                    )
                )
            ]
            if self.answered[i]:
                steps.append(SearchStep(t=seen + 1, action="answer"))
            yield SearchEpisode(
                episode_id=f"{question}-{regime}-{self.seed}",
                cluster_id=question,
                question_id=question,
                regime=regime,
                model=name,
                seed=self.seed,
                budget=self.agent.budget,
                notes=[NOTE],
                steps=steps,
                outcome=Outcome(success=bool(self.success[i])),
            )

    def write_judged_useless(self, path: Path) -> None:
        """Write the runs as JSON lines of the judged-useless format, a million in seconds.

        Every line names the simulated model. Answer-now branches have no place in this format.
        """
        budget, kinds = self.agent.budget, len(self.regimes)
        bits = (self.useless & (np.arange(budget) < self.results[:, None])) @ (
            1 << np.arange(budget)
        )
        code = ((bits * (budget + 1) + self.results) * kinds + self.regime) * 4
        code += self.answered * 2 + self.success  # one number for everything but the question
        distinct, which = np.unique(code, return_inverse=True)
        tails = [self._tail(value, budget + 1, kinds) for value in distinct.tolist()]
        with path.open("w", encoding="ascii") as file:
            file.writelines(
                f'{{"question_id": "question-{question:06d}", {tails[shape]}'
                for question, shape in zip(self.question.tolist(), which.tolist(), strict=True)
            )

    def _tail(self, code: int, lengths: int, kinds: int) -> str:
        code, ending = divmod(code, 4)
        answered, success = divmod(ending, 2)
        code, regime = divmod(code, kinds)
        bits, results = divmod(code, lengths)
        actions = ['"search"'] * results + ['"finish"'] * answered
        verdicts = ['"USELESS"' if bits >> t & 1 else '"USEFUL"' for t in range(results)]
        return (
            f'"model": "{model_name(self.agent.name)}", "regime": "{self.regimes[regime]}", '
            f'"actions": [{", ".join(actions)}], "judgments": [{", ".join(verdicts)}], '
            f'"success": {"true" if success else "false"}}}\n'
        )


def simulate_search(
    agent: SearchAgent, questions: int, *, regimes: Sequence[str] = MEAN6, seed: int = 0
) -> SearchRuns:
    """Draw one episode for each question and regime, ordered by question.

    Equal arguments give equal episodes. Regimes are those of `haltwise.simulated.faults.failing`.

    Raises:
        ParameterError: no question or no regime, or a regime that is not known.
    """
    if questions < 1 or not regimes:
        raise ParameterError("simulate_search: at least one question and one regime are needed")
    rng = np.random.default_rng(seed)
    n, budget = questions * len(regimes), agent.budget
    question = np.repeat(np.arange(questions), len(regimes))
    regime = np.tile(np.arange(len(regimes)), questions)
    failed = np.empty((n, budget), dtype=bool)
    for index, name in enumerate(regimes):
        failed[regime == index] = failing(name, questions, budget, rng)

    helps = ~failed & (rng.random((n, budget)) < agent.helpful)
    useless = rng.random((n, budget)) < np.where(
        helps, agent.useless_if_helpful, agent.useless_if_not
    )
    results, answered = _stopping(agent, useless, rng)

    knows = (rng.random(questions) < agent.from_memory)[question, None]
    finds = (rng.random(n) < agent.from_evidence)[:, None]
    answer_now = knows | (finds & np.logical_or.accumulate(helps, axis=1))
    success = answered & answer_now[np.arange(n), results - 1]
    return SearchRuns(
        agent,
        tuple(regimes),
        seed,
        question,
        regime,
        results,
        answered,
        useless,
        failed,
        answer_now,
        success,
    )


def _stopping(
    agent: SearchAgent, useless: npt.NDArray[np.bool_], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Let every agent go on until it answers or its budget is spent: results seen, answered."""
    n, budget = useless.shape
    results = np.full(n, budget)
    run = np.zeros(n, dtype=np.int64)
    going = np.ones(n, dtype=bool)
    for t in range(1, budget):
        run = np.where(useless[:, t - 1], run + 1, 0)
        answers = going & (rng.random(n) < np.asarray(agent.hazard[t - 1])[run])
        results[answers] = t
        going &= ~answers
    return results, ~going
