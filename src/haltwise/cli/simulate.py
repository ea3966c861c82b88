"""``haltwise simulate``: what each repair rule delivers at a given noise, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..core.errors import ParameterError
from ..core.noise import NoiseModel
from ..core.observation import MOST_VOTES
from .number import Number
from .options import html_option, json_option
from .output import note, print_json
from .terminal import busy, console, print_table, say

if TYPE_CHECKING:
    from ..replay.exact import Evaluation
    from ..replay.exact_optimum import Optimum
    from ..replay.exact_planning import Plan, SignMap

SCHEMA = "haltwise.simulation/1"
DEFAULT_POLICIES = (
    "fixed(0)",
    "fixed",
    "majority",
    "confidence(.85)",
    "patience(2)",
    "best_of_votes",
    "vrr_guard",
    "vrr_stop",
    "vrr",
    "lookahead(recall=false)",
    "lookahead",
    "auto",
    "true_myopic",
    "oracle",
)
"""The rules that are shown where none is named; ``fixed`` makes every repair."""
Command = TypeVar("Command", bound=Callable[..., Any])
_PROBABILITY = Number(0, 1)


def _numbers(
    context: click.Context, option: click.Parameter, text: str | None
) -> tuple[float, ...] | None:
    """Read numbers separated by commas."""
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a list of numbers; type for example .4,.2,.1", context, option
        ) from None


def _probability(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(name, type=_PROBABILITY, required=True, help=text)


@click.command()
@_probability("--rho0", "P(a vote accepts | plan invalid): false acceptance.")
@_probability("--rho1", "P(a vote rejects | plan valid): false rejection.")
@_probability("--alpha", "P(valid after a repair | invalid before).")
@_probability("--beta", "P(invalid after a repair | valid before).")
@_probability("--valid", "P(the initial plan is valid).")
@click.option(
    "--icc",
    type=Number(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Correlation of two votes on one plan; above 0 votes are beta-binomial.",
)
@click.option(
    "--alpha-by-round",
    callback=_numbers,
    metavar="A,B,...",
    help="alpha of the 1st, 2nd, ... repair, such as .4,.2,.1; the last one holds on.",
)
@click.option(
    "--beta-by-round",
    callback=_numbers,
    metavar="A,B,...",
    help="beta of the 1st, 2nd, ... repair.",
)
@click.option(
    "--votes",
    type=click.IntRange(1, MOST_VOTES),
    default=8,
    show_default=True,
    help="Votes on each plan.",
)
@click.option(
    "--rounds",
    type=click.IntRange(0, 100),
    default=5,
    show_default=True,
    help="Repairs after which the loop ends in any case.",
)
@click.option(
    "--tau",
    type=_PROBABILITY,
    default=0.0,
    show_default=True,
    help="Price of a repair in units of validity, also for rules that do not name their own.",
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="EXPR|FILE",
    help="A rule to evaluate, repeatable; noise, rounds and tau may be left out. "
    "Without it: all of them.",
)
@click.option(
    "--plan", "with_plan", is_flag=True, help="Also: labelled transitions needed for the sign."
)
@click.option("--map", "with_map", is_flag=True, help="Also: P(wrong sign) over J and margin.")
@click.option(
    "--eta",
    type=Number(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="--plan: accepted probability of a wrong sign.",
)
@click.option(
    "--calibration",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="--map: plans with votes, and labelled transitions, of the calibration.",
)
@html_option
@json_option
def command(
    rho0: float,
    rho1: float,
    alpha: float,
    beta: float,
    valid: float,
    icc: float,
    alpha_by_round: tuple[float, ...] | None,
    beta_by_round: tuple[float, ...] | None,
    votes: int,
    rounds: int,
    tau: float,
    policies: tuple[str, ...],
    with_plan: bool,
    with_map: bool,
    eta: float,
    calibration: int,
    html: Path | None,
    as_json: bool,
) -> None:
    """Evaluate stopping rules for verify-repair loops under a noise model, without any data.

    Every number is exact: all histories of votes are followed, none is drawn. Where there are too
    many, beliefs are merged and a bound on the error is given.
    """
    from ..record.policy_file import load_policy
    from ..replay.exact import evaluate_all, recalling
    from ..replay.exact_optimum import optimum, optimum_recall
    from ..replay.exact_planning import plan_labels, sign_map

    noise = NoiseModel(rho0, rho1, alpha, beta, valid, icc, alpha_by_round, beta_by_round)
    defaults = {"noise": noise, "rounds": rounds, "tau": tau}
    if policies:
        rules = [load_policy(text, defaults=defaults) for text in policies]
    else:
        rules = [load_policy(text, defaults={**defaults, "n": rounds}) for text in DEFAULT_POLICIES]
    for rule in rules:
        if rule.kind == "search":
            raise ParameterError(f"--policy: {rule} is for search loops; name a repair rule")
    sizes: dict[str, Any] = {"votes": votes, "rounds": rounds, "tau": tau}
    with busy("following all votes"):
        found = evaluate_all(rules, noise, **sizes)
        best, best_recall = optimum(noise, **sizes), optimum_recall(noise, **sizes)
        plan = plan_labels(noise, **sizes, eta=eta) if with_plan else None
        signs = sign_map(noise, **sizes, plans=calibration) if with_map else None
    if noise.discrimination < 0:
        note(
            f"rho0 + rho1 = {rho0 + rho1:g} is above 1 (J = {noise.discrimination:.2f}): votes "
            "would point the wrong way, valid plans accepted less often than invalid ones; are the "
            f"options swapped? If {rho1:g} is P(accept | valid), type --rho1 {1 - rho1:g}; if "
            f"{rho0:g} is P(reject | invalid), type --rho0 {1 - rho0:g}"
        )
    names = policies or [
        text if text != "fixed" else f"fixed({rounds})" for text in DEFAULT_POLICIES
    ]
    recalls = [recalling(rule) for rule in rules]
    report = _Report(
        noise, votes, rounds, tau, names, found, recalls, best, best_recall, plan, signs
    )
    if html is not None:
        from ..report.simulation_page import simulation_page
        from .pages import colophon, write_html

        page = simulation_page(
            noise,
            list(zip(names, found, strict=True)),
            best,
            report.thresholds,
            report.ahead,
            signs,
            tau=tau,
            colophon=colophon(str(noise), 0),
        )
        write_html(page, html)
    if as_json:
        print_json(report.to_json())
    else:
        report.show()


class _Report:
    """What was computed, as a document and as text."""

    def __init__(
        self,
        noise: NoiseModel,
        votes: int,
        rounds: int,
        tau: float,
        names: Sequence[str],
        found: Sequence[Evaluation],
        recalls: Sequence[bool],
        best: Optimum,
        best_recall: Optimum,
        plan: Plan | None,
        signs: SignMap | None,
    ) -> None:
        from ..core.policies.lookahead import optimal_thresholds
        from ..core.policies.threshold import myopic_thresholds

        self.noise, self.votes, self.rounds, self.tau = noise, votes, rounds, tau
        self.names, self.found, self.best, self.best_recall = names, found, best, best_recall
        self.recalls, self.plan, self.signs = recalls, plan, signs
        self.thresholds = myopic_thresholds(noise, tau, max(rounds, 1))[:-1]
        self.ahead = optimal_thresholds(noise, votes, rounds, tau)[-2::-1] if rounds else ()

    def to_json(self) -> dict[str, Any]:
        best = {name: value for name, value in self.best.to_json().items() if name != "kind"}
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "noise": self.noise.to_json(),
            "votes": self.votes,
            "rounds": self.rounds,
            "tau": self.tau,
            "threshold": self.thresholds[0],
            "threshold_by_round": list(self.thresholds),
            "lookahead_thresholds": list(self.ahead),
            "policies": [
                {
                    **each.to_json(),
                    "policy": name,
                    "expression": each.policy,
                    "recall": recall,
                    "share": self._share(each, recall),
                }
                for name, each, recall in zip(self.names, self.found, self.recalls, strict=True)
            ],
            "optimal": best,
            "optimal_recall": self.best_recall.to_json(),
            "skipped": [],
        }
        if self.plan is not None:
            document["plan"] = self.plan.to_json()
        if self.signs is not None:
            document["map"] = self.signs.to_json()
        return document

    def _share(self, each: Evaluation, recall: bool) -> float | None:
        """Return the share that a policy reaches of the optimum for rules of its kind.

        A rule that may deliver an older plan is held against the optimum that may do so, too;
        None where that optimum is not known, only a lower bound, or not above 0.
        """
        best = self.best_recall if recall else self.best
        known = best.objective > 0 and best.kind == "value"
        return each.objective / best.objective if known else None

    def show(self) -> None:
        self._show_policies()
        self._show_picture()
        recall = self.best_recall
        say(
            f"\nBest possible: {self.best.objective:.3f} delivering the newest plan"
            f"{self._priced()}; {recall.objective:.3f}"
            f"{' or more' if recall.kind != 'value' else ''} delivering any plan."
        )
        least = f"b* = {_short(self.thresholds[0])}"
        ahead = " ".join(_short(limit) for limit in self.ahead)
        say(
            f"Repair pays below a belief of {least}; looking ahead, with 1, 2, ... repairs left, "
            f"below {ahead or 'none'}."
        )
        if self.plan is not None:
            self._show_plan(self.plan)
        if self.signs is not None:
            self._show_map(self.signs)
        merged = [each.error for each in self.found if each.merged]
        if merged:
            note(
                "too many histories to follow each: validities are within "
                f"{max(merged):.1e} of the exact ones"
            )

    def _priced(self) -> str:
        return f" (price {self.tau:g} a repair taken off)" if self.tau else ""

    def _show_policies(self) -> None:
        bounded = any(each.merged for each in self.found)
        rows = []
        for name, each, recall in zip(self.names, self.found, self.recalls, strict=True):
            share = self._share(each, recall)
            row = [
                name,
                _short(each.validity),
                _short(each.acceptance_by_round[-1]),
                f"{each.repairs:.2f}",
                f"{each.votes:.1f}",
                _short(each.objective),
                "-" if share is None else f"{100 * share:.0f} %",
            ]
            rows.append([*row, f"{each.error:.0e}"] if bounded else row)
        columns = ["rule", "valid", "accepted", "repairs", "votes", "objective", "of the best"]
        title = (
            f"J = {self.noise.discrimination:.2f}, {self.votes} votes a plan, up to "
            f"{self.rounds} repairs at a price of {self.tau:g}"
        )
        print_table(title, [*columns, "error"] if bounded else columns, rows)

    def _show_picture(self) -> None:
        """Show true validity against reported acceptance by round, where they part the most."""
        apart = [
            max(a - v for a, v in zip(e.acceptance_by_round, e.validity_by_round, strict=True))
            for e in self.found
        ]
        worst = apart.index(max(apart))
        each = self.found[worst]
        screen = console()
        length = max(4, min(20, (screen.width - 20) // 2))  # of a bar; the rest is numbers
        valid_title = "really valid"[: length + 6].ljust(length + 6)
        reported = "reported: accepted by most votes" if length == 20 else "reported"
        click.echo(f"\n{self.names[worst]}, round by round\nround  {valid_title} {reported}")
        for k, (valid, accepted) in enumerate(
            zip(each.validity_by_round, each.acceptance_by_round, strict=True)
        ):
            bars = [f"{_short(share)} {_bar(share, length)}" for share in (valid, accepted)]
            click.echo(f"{k:>5}  {' '.join(bars)}")

    def _show_plan(self, plan: Plan) -> None:
        if plan.labelled is None:
            say(f"\nSign of the gain: {plan.note}.")
        else:
            say(
                f"\nLabelled transitions for a sign of the gain that is wrong at most "
                f"{plan.eta:g} of the time: {plan.labelled}."
            )
        shown = ", ".join(f"{n}: {_short(p)}" for n, p in plan.p_flip.items())
        say(f"P(wrong sign) by number of labels: {shown}.")

    def _show_map(self, signs: SignMap) -> None:
        edges = zip(signs.margin, signs.margin[1:], strict=False)
        columns = ["J", *[f"margin {low:g}-{high:g}" for low, high in edges]]
        rows = [
            [f"{j:g}", *["-" if p is None else _short(p) for p in row]]
            for j, row in zip(signs.discrimination, signs.wrong, strict=True)
        ]
        click.echo()
        title = f"P(wrong sign), {signs.plans} plans without labels, {signs.plans} transitions with"
        print_table(title, columns, rows)


def _short(number: float) -> str:
    return f"{number:.3f}"


def _bar(share: float, length: int) -> str:
    filled = round(length * share)
    return "█" * filled + "·" * (length - filled)
