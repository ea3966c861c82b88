"""The folder of a search study; ``judge_check.json`` tells how well the judge judges."""

from __future__ import annotations

from typing import Any

from ...record.episode import SearchEpisode
from .. import folder
from .plan import SCHEMA, Plan, plan_from_json


class StudyFolder(folder.StudyFolder[Plan, SearchEpisode]):
    """Reads and writes the folder of one search study."""

    schema = SCHEMA
    kind = "search"
    episode = SearchEpisode

    def parse(self, document: dict[str, Any]) -> Plan:
        """Rebuild a plan from ``study.json``."""
        return plan_from_json(document)
