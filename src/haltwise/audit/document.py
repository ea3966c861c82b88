"""The audit as one JSON document, schema "haltwise.audit/1"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..record.skip import Skip
from .findings import findings
from .result import Audit

SCHEMA = "haltwise.audit/1"
"""Name and version of the document."""


def document(audit: Audit, skipped: Sequence[Skip] = ()) -> dict[str, Any]:
    """Return ``audit`` as a JSON object; undefined numbers are null, with a note beside them."""
    pooled = audit.mixture
    return {
        "schema": SCHEMA,
        "episodes": audit.episodes,
        "clusters": audit.clusters,
        "regimes": list(pooled.regimes),
        "models": pooled.models,
        "arms": pooled.arms,
        "verdicts": pooled.sources,
        "simulated": pooled.simulated,
        "k": audit.k,
        "budget": audit.budget,
        "contrast": audit.contrast.to_json(),
        "hazard_slope": audit.hazard_slope.to_json(),
        "after_run": [row.to_json() for row in audit.after_run],
        "success": {name: estimate.to_json() for name, estimate in audit.success.items()},
        "mean6": audit.mean6.to_json(),
        "calls": audit.calls.to_json(),
        "useless_rate": audit.useless_rate.to_json(),
        "first_useful": audit.first_useful.to_json(),
        "waste": [row.to_json() for row in audit.waste],
        "unanswered": audit.unanswered.to_json(),
        "counterfactual": [row.to_json() for row in audit.counterfactual],
        "findings": [finding.to_json() for finding in findings(audit)],
        "notes": audit.notes,
        "skipped": [skip.to_json() for skip in skipped],
    }
