"""Runs one part of a study in a process of its own; started by the runner, not by people."""

from __future__ import annotations

import json
import sys

from .runner import run_shard

if __name__ == "__main__":
    kind, out, shard, shards, connections, model_args = sys.argv[1:]
    run_shard(kind, out, int(shard), int(shards), int(connections), json.loads(model_args))
