"""The report on search loops: what is wrong first, then the setting, then the evidence.

Knows the order of a page; each part has a file of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...audit.findings import findings
from ...audit.result import Audit
from ...audit.scope import NONE
from ...audit.tally import Sample
from ..page import Finding, Page, Section
from ..words import count
from .behaviour import contrast_figure


def search_page(audit: Audit, sample: Sample, *, colophon: Sequence[tuple[str, str]] = ()) -> Page:
    """Return the report of an audit.

    Args:
        audit: the numbers.
        sample: the episodes that they come from.
        colophon: how the report came about.
    """
    found = findings(audit)
    return Page(
        title=f"haltwise: {count(audit.episodes, 'search episode')}",
        kind="Search loops",
        headline=found[0].title if found else "Nothing here asks for a remedy",
        about=about(audit),
        findings=[Finding(finding.title, finding.evidence) for finding in found],
        notes=audit.notes,
        sections=[
            Section(
                "verdicts",
                "What agents do with their verdicts",
                "",
                [contrast_figure(audit, sample)],
            )
        ],
        colophon=colophon,
    )


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
