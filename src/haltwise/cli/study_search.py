"""``haltwise study search``: a grid of arms x regimes x questions on one model, resumable."""

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
    help="Any model that Inspect AI speaks to, such as vllm/Qwen/Qwen3-8B or openai/gpt-4o-mini.",
)
@click.option(
    "--task", default="bundled", show_default=True, help="bundled, hotpotqa[:FILE] or fever:FILE."
)
@click.option(
    "--arm", "arms", multiple=True, help="An arm, or 'all'; repeatable. Default: unaided."
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="EXPR|FILE",
    help="A rule to enforce, as an arm of its own; repeatable.",
)
@click.option(
    "--regime",
    "regimes",
    multiple=True,
    help="A fault regime, 'mean6' or 'all'; repeatable. Default: mean6.",
)
@click.option(
    "--budget",
    default=8,
    show_default=True,
    type=click.IntRange(2),
    help="Actions an episode, the answer included.",
)
@click.option(
    "--split",
    default="test",
    show_default=True,
    type=click.Choice(["dev", "test", "fresh", "whole"]),
    help="Questions, split by a hash of their ids.",
)
@click.option(
    "--repeats",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Episodes of each arm, regime and question.",
)
@click.option(
    "--price",
    type=Number(0),
    default=0.05,
    show_default=True,
    help="Cost of a tool call, in right answers.",
)
@click.option(
    "--protocol",
    default="react",
    show_default=True,
    type=click.Choice(["react", "native", "search-r1"]),
    help="How the agent writes its actions.",
)
@click.option(
    "--reasoning", type=click.Choice(["on", "off"]), help="Reasoning mode, where the model has one."
)
@click.option(
    "--grader",
    type=click.Choice(["judged-useless", "hotpotqa", "fever"]),
    help="What counts as right. Default: the task's own.",
)
@click.option("--limit", type=click.IntRange(1), help="Questions at most.")
@click.option(
    "--max-tokens",
    default=400,
    show_default=True,
    type=click.IntRange(16),
    help="Longest turn of the agent.",
)
@seed_option
@click.option(
    "--record",
    default="verdicts",
    show_default=True,
    type=click.Choice(["none", "verdicts", "branches", "full"]),
    help="branches: verdicts and answer-now branches, for replay; full: beliefs as well.",
)
@click.option(
    "--tuned",
    type=click.Path(path_type=Path),
    help="File of 'haltwise study tune', for runs off the dev split.",
)
@click.option(
    "--untuned",
    is_flag=True,
    help="Run off the dev split with k = 5, threshold .25 and rate .9, not tuned.",
)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    help="TOML with primary, margin, hypotheses, text: frozen before the run.",
)
@running
def command(
    model: str,
    model_args: tuple[str, ...],
    task: str,
    arms: tuple[str, ...],
    policies: tuple[str, ...],
    regimes: tuple[str, ...],
    budget: int,
    split: str,
    repeats: int,
    price: float,
    protocol: str,
    reasoning: str | None,
    grader: str | None,
    limit: int | None,
    max_tokens: int,
    seed: int,
    record: str,
    tuned: Path | None,
    untuned: bool,
    plan_file: Path | None,
    out: Path | None,
    connections: int,
    processes: int,
    engine: str | None,
    show_prompts: bool,
    as_json: bool,
) -> None:
    """Run a search study: agents that search, sources that fail, rules that stop them."""
    from ..study.search import prompts
    from ..study.search.arms import ARMS, Tuned
    from ..study.search.plan import (
        Plan,
        Registered,
        needs_tuning,
        read_registered,
        read_tuned,
        search_policy,
    )
    from ..study.search.regimes import MEAN6, REGIMES

    if show_prompts:
        print_prompts(prompts.every(), as_json)
        return
    if out is None:
        raise InputError("where is the study to be kept? type: haltwise study search --out DIR ...")
    named = [f"policy: {text}" for text in policies]
    written = dict(zip(named, (str(search_policy(text)) for text in policies), strict=True))
    chosen = tuple(ARMS) if "all" in arms else arms or (() if policies else ("unaided",))
    groups = {"all": REGIMES, "mean6": MEAN6}
    places = [item for name in regimes or ("mean6",) for item in groups.get(name, (name,))]
    plan = Plan(
        model=model,
        task=task,
        arms=tuple(dict.fromkeys((*chosen, *named))),
        regimes=tuple(dict.fromkeys(places)),
        budget=budget,
        split=None if split == "whole" else split,
        repeats=repeats,
        price=price,
        protocol=protocol,
        reasoning=reasoning,
        limit=limit,
        seed=seed,
        record=record,
        grader=grader,
        tuned=read_tuned(tuned) if tuned else Tuned(),
        max_tokens=max_tokens,
        policies=written,
        registered=read_registered(plan_file) if plan_file else Registered(),
    )
    missing = needs_tuning(plan)
    if missing and not untuned:
        raise InputError(
            f"{', '.join(missing)} would be used on the split {split} without having been tuned; "
            "run the arms with --split dev, then type: haltwise study tune DIR -o tuned.toml, and "
            "give --tuned tuned.toml; or give --untuned"
        )
    options = model_arguments(model_args)
    need_inspect()
    from ..study.runner import Running
    from ..study.search.runner import run_study

    run_and_tell(
        "search",
        run_study,
        plan,
        out,
        Running(connections, processes, engine, options),
        embedded=plan.model == "haltwise/embedded",
        as_json=as_json,
        kept=("judge_check",),
    )
