"""The agent loop: arms, regimes, protocols, enforcement and probes, on scripted models."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from haltwise.core.events import Verdict
from haltwise.core.expression import parse_policy
from haltwise.enforce.messages import Call
from haltwise.record.episode import SearchEpisode
from haltwise.study.search import prompts
from haltwise.study.search.agent import Played, Record, Setting, play
from haltwise.study.search.arms import ARMS, Arm, Tuned, arm_named, policy_arm
from haltwise.study.search.conversation import Entry, Request, Role
from haltwise.study.search.graders import GRADERS
from haltwise.study.search.protocols import PROTOCOLS, Response
from haltwise.study.search.question import Question
from haltwise.study.search.regimes import REGIMES, world
from haltwise.study.search.scripted import Script, follows, never_stops
from haltwise.study.search.tasks import bundled

TASK = bundled()
QUESTION = TASK.questions[0]
JUDGED = "Here is what a search returned:"


def setting(arm: Arm, **changes: object) -> Setting:
    """Return a setting for ``arm`` with the rule that the arm enforces."""
    values: dict[str, object] = {
        "arm": arm,
        "policy": parse_policy(arm.policy.format(k=5, budget=8)) if arm.policy else None,
        "protocol": PROTOCOLS["react"],
        "kind": "qa",
        "grade": GRADERS["judged-useless"],
        "model": "haltwise/scripted:test",
    }
    return Setting(**{**values, **changes})  # type: ignore[arg-type]


class Model:
    """A scripted model that remembers every request."""

    def __init__(self, script: Script | Sequence[Response]) -> None:
        self.script, self.requests = script, list[Request]()

    async def ask(self, request: Request) -> Response:
        """Answer by the script, or with the next response of a list."""
        self.requests.append(request)
        if callable(self.script):
            return self.script(request)
        return self.script[len(self.requests) - 1]


def run(
    arm: str | Arm,
    script: Script | Sequence[Response] = never_stops,
    regime: str = "persistent",
    question: Question = QUESTION,
    **changes: object,
) -> tuple[Played, Model]:
    """Play one episode."""
    model = Model(script)
    where = world(question, regime, TASK.questions, seed=0)
    arm = arm_named(arm) if isinstance(arm, str) else arm
    return asyncio.run(play(where, setting(arm, **changes), model.ask)), model


def actions(episode: SearchEpisode) -> list[str]:
    """Return the names of the actions."""
    return [step.action for step in episode.steps]


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(("protocol", "script"), [("react", follows), ("native", never_stops)])
def test_every_arm_runs_in_every_regime(arm: str, protocol: str, script: Script) -> None:
    """12 arms x 11 regimes, in text and with tool calls, end within the budget."""
    for regime in REGIMES:
        played, _ = run(arm, script, regime, protocol=PROTOCOLS[protocol])
        steps = played.episode.steps
        assert [step.t for step in steps] == list(range(1, len(steps) + 1))
        assert 2 <= len(steps) <= 8
        assert played.episode.outcome.success is not None
        assert played.episode.outcome.reason


def test_enforced_rule_answers_at_action_6() -> None:
    """Five useless results, then the forced answer; the tools are gone and the note is there."""
    played, model = run("enforced_rule")
    assert actions(played.episode) == ["search"] * 5 + ["answer"]
    last = model.requests[-1]
    assert last.tools == ()
    assert last.history[-1].message.text == f"{prompts.LAST}\nThe task was: {QUESTION.text}"
    assert played.episode.outcome.reason == "5 useless results in a row (threshold 5)"


def test_deadline_answers_at_action_8() -> None:
    """Seven results, then the forced answer; no verdict is asked for."""
    played, model = run("deadline", record=Record.NONE)
    assert actions(played.episode) == ["search"] * 7 + ["answer"]
    assert {request.role for request in model.requests} == {Role.AGENT}


def test_unaided_never_answers_and_fails_at_the_budget() -> None:
    """Eight searches, no answer, failed; seven decision points have a verdict, the last none."""
    played, _ = run("unaided")
    steps = played.episode.steps
    assert actions(played.episode) == ["search"] * 8
    assert played.episode.outcome.success is False
    assert ["side_channel" in step.verdicts for step in steps] == [True] * 7 + [False]


def test_a_policy_arm_enforces_any_expression() -> None:
    """`streak(3) | deadline(8)` answers at action 4."""
    played, _ = run(policy_arm("streak(3) | deadline(8)"))
    assert len(played.episode.steps) == 4
    assert played.episode.arm == "policy: streak(3) | deadline(8)"


def test_the_stated_rule_discards_the_proposal_that_came_with_the_judgement() -> None:
    """The fifth judgement comes with the sixth search: it is thrown away and priced apart."""
    played, model = run("enforced_stated", record=Record.NONE)
    assert actions(played.episode) == ["search"] * 5 + ["answer"]
    roles = played.episode.usage_by_role
    assert roles["regeneration"].calls == 1
    assert roles["agent"].calls == 6
    forced = model.requests[-1].history
    assert "query 6" not in "".join(entry.message.text for entry in forced)


def test_lexical_and_random_signals_ask_nobody() -> None:
    """With their own verdicts the rule fires without one judge call while the episode runs."""
    for arm, tuned in (
        ("enforced_lexical", Tuned(threshold=1.0)),
        ("enforced_random", Tuned(rate=1)),
    ):
        played, model = run(arm, record=Record.NONE, tuned=tuned)
        assert len(played.episode.steps) == 6
        assert {request.role for request in model.requests} == {Role.AGENT}


def test_the_random_control_is_independent_of_the_results() -> None:
    """At rate 0 it never fires, however dead the source."""
    played, _ = run("enforced_random", record=Record.NONE, tuned=Tuned(rate=0.0))
    assert actions(played.episode) == ["search"] * 8


WORDS = {
    "unaided": (prompts.EVIDENCE,),
    "permit": (prompts.MEMORY,),
    "budget": (prompts.MEMORY, prompts.LIMIT.format(budget=8)),
    "stated_rule": (prompts.EVIDENCE, prompts.STATED_RULE.format(k=5)),
    "call_cost": (prompts.EVIDENCE, prompts.CALL_COST),
    "decide": (prompts.EVIDENCE,),
    "combo": (prompts.MEMORY, prompts.LIMIT.format(budget=8)),
}


@pytest.mark.parametrize(("arm", "texts"), WORDS.items())
def test_what_each_arm_says(arm: str, texts: tuple[str, ...]) -> None:
    """The system text holds the arm's sentences and no other arm's."""
    _, model = run(arm)
    system = model.requests[0].history[0].message.text
    every = {text for words in WORDS.values() for text in words}
    assert {text for text in every if text in system} == set(texts)


def test_the_exact_observations_and_counts_under_budget_and_decide() -> None:
    """Budget shows the actions left (7, 6, ...), decide the run (1, 2, ...), under the result."""
    for arm, template, values in (
        ("budget", prompts.REMAINING, [{"left": n} for n in (7, 6, 5, 4, 3, 2, 1)]),
        ("decide", prompts.RUN, [{"run": n} for n in (1, 2, 3, 4, 5, 6, 7)]),
    ):
        played, _ = run(arm)
        below = [entry.below for entry in played.history if entry.message.role == "tool"]
        assert below[:-1] == [template.format(**value) for value in values]
        texts = [entry.message.text for entry in played.history if entry.message.role == "tool"]
        assert texts == [step.result for step in played.episode.steps]


def flat(history: Sequence[Entry]) -> list[tuple[str, str, str]]:
    """Return what a model reads."""
    return [(entry.message.role, entry.message.text, entry.below) for entry in history]


@pytest.mark.parametrize("arm", ["unaided", "budget", "enforced_lexical", "deadline"])
@pytest.mark.parametrize("regime", ["clean", "recover_after_2"])
def test_the_history_is_the_same_with_and_without_probes(arm: str, regime: str) -> None:
    """Not a byte of the agent's history, requests or outcome depends on what is recorded."""
    seen = []
    for record in Record:
        played, model = run(arm, follows, regime, record=record)
        own = [flat(request.history) for request in model.requests if request.role is Role.AGENT]
        seen.append((flat(played.history), own, played.episode.outcome))
    assert all(item == seen[0] for item in seen)


def test_live_verdicts_stay_out_of_the_history() -> None:
    """The side channel is asked while the episode runs; no agent request holds its prompt."""
    played, model = run("enforced_rule", follows, "recover_after_2")
    assert any(request.role is Role.JUDGE for request in model.requests)
    for request in model.requests:
        asked = any(
            "Here is what a search returned:" in entry.message.text for entry in request.history
        )
        assert asked == (request.role is Role.JUDGE)
    assert not any(
        "Here is what a search returned:" in entry.message.text for entry in played.history
    )


def test_probes_see_the_conversation_up_to_their_decision_point() -> None:
    """The probes on step t end with observation t and their own question."""
    played, model = run("unaided", record=Record.FULL)
    for role in (Role.JUDGE, Role.PROBE, Role.BRANCH):
        histories = [r.history for r in model.requests if r.role is role]
        assert len(histories) == 7
        for t, history in zip(range(7, 0, -1), histories, strict=True):
            assert history[-2].message.text == played.episode.steps[t - 1].result


def test_full_recording_has_branches_and_beliefs_at_every_decision_point() -> None:
    """7 of 8 observations of an unaided run are decision points; costs are kept by role."""
    played, _ = run("unaided", record=Record.FULL)
    steps = played.episode.steps
    assert [step.answer_now is not None for step in steps] == [True] * 7 + [False]
    assert steps[0].answer_now.answer == "unknown"  # type: ignore[union-attr]
    assert steps[0].beliefs.answer_now == 0.1  # type: ignore[union-attr]
    roles = played.episode.usage_by_role
    assert {name: usage.calls for name, usage in roles.items()} == {
        "agent": 8,
        "judge": 7,
        "probe": 7,
        "branch": 7,
    }
    assert played.episode.usage.calls == 29  # type: ignore[union-attr]


def test_the_truth_is_recorded_beside_the_verdicts() -> None:
    """Failed results are useless, the supporting page useful, whatever the judge says."""
    played, _ = run("unaided", follows, "recover_after_1")
    truths = [step.verdicts["truth"] for step in played.episode.steps if step.action == "search"]
    assert truths == [Verdict.USELESS, Verdict.USEFUL, Verdict.USEFUL]
    assert played.episode.outcome.success


REACT = PROTOCOLS["react"]
TWO = "Thought: both\nAction: search[a]\nAction: search[b]"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (Response(TWO), "several actions in one turn"),
        (Response("Action: search[a]\nAction: finish[b]"), "several actions in one turn"),
        (Response("Thought: cut", truncated=True), "the turn was cut off by the limit of tokens"),
        (Response("I do not know."), "no action in the turn"),
        (
            Response("Action: backup_search[a]"),
            "a call of backup_search, which was not offered",
        ),
    ],
)
def test_a_turn_that_breaks_the_form_ends_the_episode(response: Response, reason: str) -> None:
    """Failure with its reason, no answer, not censored."""
    played, _ = run("unaided", [response], record=Record.NONE)
    assert played.episode.outcome.reason == reason
    assert (played.episode.outcome.success, played.episode.outcome.answer) == (False, None)


def search(number: int) -> Response:
    """A search turn."""
    return Response(f"Thought: on\nAction: search[q{number}]")


@pytest.mark.parametrize("rogue", ["", "Thought: more\nAction: search[again]"])
def test_an_empty_or_rogue_forced_reply_is_asked_once_more(rogue: str) -> None:
    """The second reply counts; nothing is searched in between."""
    responses = [search(1), search(2), Response(rogue), Response("Action: finish[Ulm]")]
    played, model = run(policy_arm("calls(2)"), responses, record=Record.NONE)
    assert played.episode.outcome.answer == "Ulm"
    assert len(played.episode.steps) == 3
    assert model.requests[-1].history[-1].message.text == prompts.AGAIN


def test_two_empty_forced_replies_end_without_an_answer() -> None:
    """The reason says both: why it was stopped, and that nothing came."""
    responses = [search(1), Response(""), Response("  ")]
    played, _ = run(policy_arm("calls(1)"), responses, record=Record.NONE)
    assert played.episode.outcome.answer is None
    assert "the forced answer was empty" in (played.episode.outcome.reason or "")


def test_native_calls_are_answered_by_their_id() -> None:
    """The observation carries the id of its call; a reply without a call is the answer."""
    call = Call("c1", "lookup", '{"text": "capital"}')
    responses = [Response("", (call,)), Response("Answer: Ulm")]
    played, model = run("unaided", responses, protocol=PROTOCOLS["native"], record=Record.NONE)
    assert model.requests[1].history[-1].message.call_id == "c1"
    assert played.episode.steps[0].arguments == "capital"
    assert played.episode.outcome.answer == "Ulm"


def test_search_r1_tags() -> None:
    """Search and answer in tags; there is no lookup."""
    played, model = run("unaided", follows, "clean", protocol=PROTOCOLS["search-r1"])
    assert actions(played.episode) == ["search", "search", "answer"]
    assert model.requests[0].tools == ("search",)


def test_the_budget_of_two_forces_after_one_result() -> None:
    """`deadline(2)` leaves one search and the answer."""
    arm = ARMS["deadline"]
    played, _ = run(arm, budget=2, policy=parse_policy("deadline(2)"), record=Record.NONE)
    assert actions(played.episode) == ["search", "answer"]
