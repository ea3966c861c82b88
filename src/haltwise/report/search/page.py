"""The report on search loops: what is wrong first, then the setting, then the evidence.

Knows the order of a page; each part has a file of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...audit.findings import findings
from ...audit.result import Audit
from ...audit.scope import NONE
from ...audit.tally import Sample
from ...core.expression import parse_policy
from ...core.policies import Recovery
from ...core.policy import Policy
from ..figure import Figure, Table
from ..page import Finding, Fragment, Page, Section
from ..words import count
from .behaviour import contrast_figure, response_figure
from .cost import success_figure, waste_by_k, waste_figure
from .details import Details
from .episodes import browser
from .explorer import explorer
from .headline import facts, headline
from .recovery import hazard_table, recovery_figure
from .setting import chosen, setting
from .survival import survival_figure
from .whatif import PRICES, Effect


def search_page(
    audit: Audit,
    sample: Sample,
    details: Details | None = None,
    *,
    again: str = "traces.jsonl",
    price: float = 0.05,
    replicates: int = 2000,
    seed: int = 0,
    colophon: Sequence[tuple[str, str]] = (),
) -> Page:
    """Return the report of an audit.

    Args:
        audit: the numbers.
        sample: the episodes that they come from.
        details: what rules would have done, recoveries, episodes; None leaves these parts out.
        again: what was read, as it was typed: paths and the table of forced answers.
        price: of a call, in right answers.
        replicates: bootstrap resamples.
        seed: of these.
        colophon: how the report came about.
    """
    found = findings(audit)
    effects: list[Effect] = []
    best = None
    use = None
    sections = behaviour_sections(audit, sample)
    if details is not None:
        level = audit.contrast.estimate.level
        drawn = {"level": level, "replicates": replicates, "seed": seed}
        prices = sorted({*PRICES, price})
        effects = details.what_if.effects(prices, **drawn)  # type: ignore[arg-type]
        best = chosen(effects, audit, price)
        if best is not None:
            gain = details.what_if.gain(effects, best, **drawn)  # type: ignore[arg-type]
            use = setting(best, effects[0], gain, audit, price, again)
        start = best or effects[-1]
        sections += [
            Section(
                "what-if",
                "What if",
                "Replays every rule on these same episodes. A rule only truncates, so nothing is "
                "simulated: the numbers are those of haltwise replay.",
                [explorer(effects, details.what_if, start, price)],
            ),
            _recovery_section(details),
        ]
        if details.stories:
            sections.append(_episodes_section(details, best, audit))
    return Page(
        title=f"haltwise: {count(audit.episodes, 'search episode')}",
        kind="Search loops",
        headline=headline(audit, found),
        about=about(audit),
        facts=facts(audit),
        setting=use,
        findings=[Finding(finding.title, finding.evidence) for finding in found],
        notes=audit.notes,
        sections=sections,
        colophon=colophon,
    )


def behaviour_sections(audit: Audit, sample: Sample) -> list[Section]:
    """Return what an audit alone can show."""
    return [
        Section(
            "verdicts",
            "What agents do with their verdicts",
            "An agent that acts on what it says of its results answers, or gives up, once they "
            "keep being useless.",
            [contrast_figure(audit, sample), response_figure(audit, sample)],
        ),
        Section(
            "survival-of-loops",
            "How long they search on",
            "",
            [survival_figure(audit, sample)],
        ),
        Section(
            "waste",
            "Where calls are wasted",
            "",
            [waste_figure(audit, sample), *waste_by_k(audit)],
        ),
        Section("success-by-regime", "How it ends", "", [success_figure(audit)]),
    ]


def _recovery_section(details: Details) -> Section:
    blocks: list[Figure | Table | Fragment] = [
        recovery_figure(details.recovery, details.counts, details.recovery_notes)
    ]
    if details.counts is not None and details.counts.tried.sum():
        blocks.append(hazard_table(details.counts))
    return Section(
        "recovery",
        "When a source comes back",
        "Sources that were useless for a while sometimes recover. How often they did, and what "
        "an answer was worth, decides how long waiting pays.",
        blocks,
    )


def _episodes_section(details: Details, best: Effect | None, audit: Audit) -> Section:
    return Section(
        "episodes",
        "Episodes to look at",
        "A few of each kind, the first ones of the record. Marked is where a rule would have "
        "stopped.",
        [browser(details.stories, _shown_rules(details, best, audit))],
    )


def _shown_rules(details: Details, best: Effect | None, audit: Audit) -> list[tuple[str, Policy]]:
    texts = [best.expression] if best is not None else []
    texts += [f"streak({k})" for k in (3, audit.k) if k < audit.budget]
    texts.append(f"deadline({audit.budget})")
    rules = [(text, parse_policy(text)) for text in dict.fromkeys(texts)]
    if details.recovery is not None:
        rules.append(("recovery, the table above", Recovery(details.recovery)))
    return rules


def about(audit: Audit) -> str:
    """Return what was looked at, in a line."""
    pooled = audit.mixture
    parts = [count(audit.episodes, "episode"), count(audit.clusters, "question")]
    if list(pooled.regimes) != [NONE]:
        parts.append(count(len(pooled.regimes), "fault regime"))
    for word, names in (("model", pooled.models), ("arm", pooled.arms)):
        known = [name for name in names if name != NONE]
        if known:
            parts.append(f"{word} {', '.join(known[:3])}{' and more' if len(known) > 3 else ''}")
    parts.append(f"up to {audit.budget} actions each")
    parts.append(f"verdicts: {', '.join(pooled.sources)}")
    return ", ".join(parts) + "."
