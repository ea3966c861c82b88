"""The folder of a verify-repair study."""

from __future__ import annotations

from typing import Any

from ...record.episode import RepairEpisode
from .. import folder
from .plan import SCHEMA, Plan, plan_from_json


class StudyFolder(folder.StudyFolder[Plan, RepairEpisode]):
    """Reads and writes the folder of one verify-repair study."""

    schema = SCHEMA
    kind = "repair"
    episode = RepairEpisode

    def parse(self, document: dict[str, Any]) -> Plan:
        """Rebuild a plan from ``study.json``."""
        return plan_from_json(document)
