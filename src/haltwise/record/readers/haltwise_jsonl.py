"""Reader of our own format, `haltwise.record.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator

from ..jsonl import check, decoder
from ..skip import Skip
from ..source import Source
from .base import Found
from .lines import records
from .sniffing import first_object_keys, is_array


class HaltwiseJsonl:
    """One episode a line, as haltwise writes them."""

    name = "haltwise"
    splits = True

    def sniff(self, head: bytes, path: str) -> float:
        """Sure of an object with a kind and an episode_id."""
        mine = {"kind", "episode_id", "question_id"} <= first_object_keys(head)
        return 1.0 if mine and not is_array(head) else 0.0

    def read(self, source: Source) -> Iterator[Found | Skip]:
        """Yield every line as an episode or a skip."""
        for item in records(source, decoder, "a haltwise episode"):
            if isinstance(item, Skip):
                yield item
                continue
            line, episode = item
            problem = check(episode)
            yield (line, episode) if problem is None else source.skip(line, problem)


reader = HaltwiseJsonl()
