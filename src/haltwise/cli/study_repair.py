"""``haltwise study repair``: propose, vote, repair, with and without rules; resumable."""

from __future__ import annotations

from pathlib import Path

import click

from ..core.errors import InputError
from .live_models import model_arguments, need_inspect, print_prompts, run_and_tell, running
from .number import Number
from .options import seed_option


@click.command()
@click.option(
    "--model",
    default="haltwise/embedded",
    show_default=True,
    help="The model of all three roles, in Inspect AI's words.",
)
@click.option("--proposer", help="Another model for the first plans.")
@click.option("--verifier-model", help="Another model for the votes.")
@click.option("--repairer-model", help="Another model for the repairs.")
@click.option(
    "--task",
    default="bundled",
    show_default=True,
    help="bundled, arithmetic, puzzles, functions, calls, gsm8k[:FILE], math500[:FILE], "
    "mbpp[:FILE], bfcl_simple, bfcl_multiple, bfcl_parallel, or scripted:N with a scripted model.",
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="EXPR|FILE",
    help="A rule that gates the loop, as an arm of its own; repeatable.",
)
@click.option(
    "--record",
    default="full",
    show_default=True,
    type=click.Choice(["full", "none"]),
    help="full: also run every round ungated, with the truth, so that every rule can be replayed.",
)
@click.option(
    "--votes", default=8, show_default=True, type=click.IntRange(1), help="Votes on each plan."
)
@click.option(
    "--rounds", default=5, show_default=True, type=click.IntRange(0), help="Repairs at most."
)
@click.option(
    "--verifier",
    "verifiers",
    multiple=True,
    type=click.Choice(["plain", "result", "steps"]),
    help="How the verifier is asked; several are views that share the votes. Default: plain.",
)
@click.option(
    "--repairer",
    default="revise",
    show_default=True,
    type=click.Choice(["revise", "told_wrong", "restart"]),
    help="How the repairer is asked.",
)
@click.option(
    "--repair-from",
    default="latest",
    show_default=True,
    type=click.Choice(["latest", "incumbent"]),
    help="Which plan a gated loop repairs.",
)
@click.option("--adaptive", is_flag=True, help="Gated loops buy votes one at a time.")
@click.option(
    "--mismatch", is_flag=True, help="Stress: the repairer sees a perturbed copy of the problem."
)
@click.option(
    "--temperature",
    default=0.7,
    show_default=True,
    type=Number(0),
    help="Of proposals and repairs.",
)
@click.option(
    "--vote-temperature", default=1.0, show_default=True, type=Number(0), help="Of votes."
)
@click.option("--limit", type=click.IntRange(1), help="Problems at most.")
@seed_option
@click.option(
    "--sandbox",
    default="bubblewrap",
    show_default=True,
    type=click.Choice(["bubblewrap", "none-i-accept"]),
    help="Where model-written programs run.",
)
@running
def command(
    model: str,
    proposer: str | None,
    verifier_model: str | None,
    repairer_model: str | None,
    model_args: tuple[str, ...],
    task: str,
    policies: tuple[str, ...],
    record: str,
    votes: int,
    rounds: int,
    verifiers: tuple[str, ...],
    repairer: str,
    repair_from: str,
    adaptive: bool,
    mismatch: bool,
    temperature: float,
    vote_temperature: float,
    limit: int | None,
    seed: int,
    sandbox: str,
    out: Path | None,
    connections: int,
    processes: int,
    engine: str | None,
    show_prompts: bool,
    as_json: bool,
) -> None:
    """Run a verify-repair study: plans, noisy votes, repairs, and the truth beside each round."""
    from ..study.repair import prompts

    if show_prompts:
        print_prompts(prompts.every(), as_json)
        return
    if out is None:
        raise InputError("where is the study to be kept? type: haltwise study repair --out DIR ...")
    need_inspect()
    from ..record.policy_file import load_policy
    from ..study.repair.plan import Plan
    from ..study.repair.runner import run_study
    from ..study.runner import Running

    plan = Plan(
        task=task,
        proposer=proposer or model,
        verifier=verifier_model or model,
        repairer=repairer_model or model,
        policies=tuple(str(load_policy(text, defaults={"rounds": rounds})) for text in policies),
        record=record == "full",
        votes=votes,
        rounds=rounds,
        verifiers=verifiers or ("plain",),
        repair=repairer,
        repair_from=repair_from,
        adaptive=adaptive,
        mismatch=mismatch,
        temperature=temperature,
        vote_temperature=vote_temperature,
        limit=limit,
        seed=seed,
        sandbox=sandbox,
    )
    run_and_tell(
        "repair",
        run_study,
        plan,
        out,
        Running(connections, processes, engine, model_arguments(model_args)),
        embedded="haltwise/embedded" in (plan.proposer, plan.verifier, plan.repairer),
        as_json=as_json,
    )
