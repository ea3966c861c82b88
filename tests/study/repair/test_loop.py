"""The repair loop on scripted models: what is asked, what is recorded, where it stops."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from haltwise import NoiseModel, ParameterError, parse_policy
from haltwise.core.events import Usage
from haltwise.record.episode import RepairEpisode
from haltwise.study.repair import prompts
from haltwise.study.repair.loop import RepairFrom, Setting, play
from haltwise.study.repair.roles import Ask, Reply, Request, Role, mismatched, read_vote
from haltwise.study.repair.scripted import RIGHT, WRONG, scripted, scripted_task
from haltwise.study.repair.tasks import bundled

NOISE = NoiseModel(rho0=0.3, rho1=0.2, alpha=0.25, beta=0.1, valid=0.6)
TASK = scripted_task(40)
FULL = Setting(TASK, "haltwise/scripted", votes=8, rounds=5)


def played(setting: Setting, ask: Ask, problem: int = 0) -> RepairEpisode:
    """Run one episode."""
    return asyncio.run(play(setting.task.problems[problem], setting, ask))


class Spy:
    """Remembers every request, and answers from a list of plans and a list of vote texts."""

    def __init__(self, plans: list[str], votes: list[list[str]]) -> None:
        self.requests: list[Request] = []
        self.plans, self.votes = iter(plans), iter(votes)

    async def __call__(self, request: Request) -> Reply:
        """Answer one request."""
        self.requests.append(request)
        if request.role is Role.VERIFIER:
            return Reply(tuple(next(self.votes)[: request.n]), Usage(1, 10, 2))
        return Reply((next(self.plans),), Usage(1, 5, 1))


def test_a_full_record_runs_every_round_with_its_truth() -> None:
    """Nothing gates it: K + 1 rounds, votes and truth in each, censored at the end."""
    episode = played(FULL, scripted(NOISE))
    assert [step.round for step in episode.steps] == [0, 1, 2, 3, 4, 5]
    assert all(step.votes == 8 and step.valid is not None for step in episode.steps)
    assert all(step.valid == (step.candidate == RIGHT) for step in episode.steps)
    assert episode.outcome.censored
    assert episode.usage_by_role["verifier"].calls == 6
    assert episode.usage_by_role["repairer"].calls == 5


def test_equal_settings_give_equal_episodes() -> None:
    """An episode depends on seed, problem and round alone, not on the order of the work."""
    forward = [played(FULL, scripted(NOISE), i) for i in range(10)]
    backward = [played(FULL, scripted(NOISE), i) for i in reversed(range(10))]
    assert forward == backward[::-1]
    assert played(replace(FULL, seed=1), scripted(NOISE), 3) != forward[3]


def test_a_gated_loop_stops_where_its_policy_says() -> None:
    """majority: five of eight accepts on the second plan commit it after one repair."""
    spy = Spy([WRONG, RIGHT], [["no"] * 8, ["yes"] * 5 + ["no"] * 3])
    episode = played(replace(FULL, policy=parse_policy("majority")), spy)
    assert [(step.accepts, step.votes) for step in episode.steps] == [(0, 8), (5, 8)]
    assert episode.outcome.success
    assert not episode.outcome.censored
    assert episode.outcome.answer == RIGHT


def test_the_guard_delivers_an_earlier_plan() -> None:
    """The incumbent of round 0 is kept when later plans do not beat it: its truth counts."""
    votes = [["yes"] * 6 + ["no"] * 2, *[["no"] * 8] * 5]
    spy = Spy([RIGHT, *[WRONG] * 5], votes)
    episode = played(replace(FULL, policy=parse_policy("vrr_guard")), spy)
    assert len(episode.steps) == 6
    assert episode.outcome.success
    assert episode.outcome.answer == RIGHT


def test_a_failed_verifier_is_no_vote() -> None:
    """No text, and texts that say neither yes nor no, are missing votes, not rejections."""
    spy = Spy([RIGHT], [["yes", "perhaps", "", "no"]])
    episode = played(replace(FULL, rounds=0), spy)
    assert (episode.steps[0].accepts, episode.steps[0].votes) == (1, 2)
    spy = Spy([RIGHT], [[]])
    episode = played(replace(FULL, rounds=0), spy)
    assert (episode.steps[0].accepts, episode.steps[0].votes) == (0, 0)


def test_several_verifiers_are_told_apart() -> None:
    """Eight votes of two kinds are four each, and the record keeps the views."""
    spy = Spy([RIGHT], [["yes"] * 4, ["Verdict: no"] * 4])
    episode = played(replace(FULL, rounds=0, verifiers=("plain", "steps")), spy)
    assert episode.steps[0].views == {"plain": (4, 4), "steps": (0, 4)}
    assert (episode.steps[0].accepts, episode.steps[0].votes) == (4, 8)
    assert [request.n for request in spy.requests[1:]] == [4, 4]


def test_repairs_start_from_the_latest_or_from_the_incumbent() -> None:
    """With --repair-from incumbent the repairer sees the plan that the policy would deliver."""
    votes = [["yes"] * 8, ["no"] * 8, ["no"] * 8]
    for source, shown in ((RepairFrom.LATEST, "second"), (RepairFrom.INCUMBENT, "first")):
        spy = Spy(["first", "second", "third"], [*votes])
        policy = parse_policy("vrr_guard(rounds=2)")
        played(replace(FULL, rounds=2, policy=policy, repair_from=source), spy)
        repairs = [request for request in spy.requests if request.role is Role.REPAIRER]
        assert repairs[1].messages[-1][1].endswith(shown)


def test_restart_does_not_show_the_plan() -> None:
    """The repairer that starts again sees the problem only."""
    spy = Spy(["first", "second"], [["no"] * 8] * 2)
    played(replace(FULL, rounds=1, repairer="restart"), spy)
    repair = next(request for request in spy.requests if request.role is Role.REPAIRER)
    assert "first" not in repair.messages[-1][1]


def test_a_mismatched_repairer_sees_another_problem() -> None:
    """Under stress one number of the statement is changed for the repairer, not for the others."""
    task = bundled("arithmetic")
    spy = Spy(["23", "24"], [["no"] * 8] * 2)
    played(replace(FULL, task=task, rounds=1, mismatch=True), spy)
    propose, first, repair, second = spy.requests
    text = task.problems[0].text
    assert all(text in request.messages[-1][1] for request in (propose, first, second))
    assert text not in repair.messages[-1][1]


@pytest.mark.parametrize("seed", range(12))
def test_a_perturbed_statement_differs(seed: int) -> None:
    """Every seed changes something, with numbers or without."""
    assert mismatched("Buy 3 tins and 4 pots.", seed) != "Buy 3 tins and 4 pots."
    assert mismatched("Sort a list. Keep it stable.", seed) == "Sort a list."


def test_adaptive_votes_stop_when_the_decision_is_certain() -> None:
    """majority with 8 votes is settled by the fifth accept: the other three are not bought."""
    spy = Spy([RIGHT], [["yes"] * 8] * 8)
    setting = replace(FULL, policy=parse_policy("majority"), adaptive=True)
    episode = played(setting, spy)
    assert (episode.steps[0].accepts, episode.steps[0].votes) == (5, 5)


def test_every_vote_has_a_seed_of_its_own() -> None:
    """No two calls of an episode share a seed, so that votes are not copies of each other."""
    spy = Spy([WRONG] * 6, [["no"] * 8] * 12)
    played(replace(FULL, verifiers=("plain", "steps")), spy)
    seeds = [request.seed for request in spy.requests]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(
    ("text", "vote"),
    [
        ("yes", True),
        ("No.", False),
        ("Result: 3\nVerdict: yes", True),
        ("Verdict: yes? I mean it is not.\nVerdict: **no**", False),
        ("1. no numbers here\nVERDICT: Yes", True),
        ("yesterday", None),
        ("The answer is yes", None),
        ("", None),
    ],
)
def test_reading_votes(text: str, vote: bool | None) -> None:
    """The last verdict counts, else the first word; anything else is no vote."""
    assert read_vote(text) is vote


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"votes": 1, "verifiers": ("plain", "steps")}, "votes is at least one for each of 2"),
        ({"verifiers": ("loud",)}, "there is no verifier 'loud'; known: plain, result, steps"),
        ({"repairer": "pray"}, "there is no repairer 'pray'"),
        ({"rounds": -1}, "rounds is at least 0"),
        ({"adaptive": True}, "need a policy"),
    ],
)
def test_settings_are_checked(change: dict[str, object], message: str) -> None:
    """A setting that makes no sense is refused before anything is asked."""
    with pytest.raises(ParameterError, match=message):
        replace(FULL, **change)  # type: ignore[arg-type]


def test_every_prompt_is_printed() -> None:
    """`--show-prompts` prints each text that the module defines."""
    shown = "\n".join(prompts.every().values())
    for text in (*prompts.VERIFY.values(), *prompts.REPAIR.values(), prompts.PROPOSE):
        assert text in shown
