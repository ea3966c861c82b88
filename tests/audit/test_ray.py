"""An audit on a Ray cluster of two nodes is the audit of one process, to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from haltwise.audit.document import document
from haltwise.audit.gather import gather
from haltwise.audit.result import audit
from haltwise.simulated import IGNORES, simulate_search


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_two_nodes_change_no_number(tmp_path: Path) -> None:
    """Estimates and intervals are equal, and both nodes are there."""
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    from ray.cluster_utils import Cluster

    path = tmp_path / "runs.jsonl"
    simulate_search(IGNORES, 1000).write_judged_useless(path)
    whole = document(audit(gather([str(path)]).tally, replicates=100))
    source = str(Path(__file__).resolve().parents[2] / "src")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        environment = {"env_vars": {"PYTHONPATH": source}}
        ray.init(address=cluster.address, runtime_env=environment, log_to_driver=False)
        assert len(ray.nodes()) == 2
        gathered = gather([str(path)], workers=2, engine="ray", size=100_000)
        assert document(audit(gathered.tally, replicates=100)) == whole
    finally:
        ray.shutdown()
        cluster.shutdown()
