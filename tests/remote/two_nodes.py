"""Two Ray nodes of one core each on this machine, until standard input ends.

Prints one JSON object: the address, the ids of the two nodes, Ray's folder. The line
``kill`` on standard input kills the second node as a power cut would, ``add`` puts
another in its place; both are answered with the same object.
"""

import json
import sys
from typing import Any

from ray.cluster_utils import Cluster

STORE = 80_000_000


def main() -> None:
    cluster: Any = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 1,
            "include_dashboard": False,
            "object_store_memory": STORE,
        },
    )
    second = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    try:
        cluster.wait_for_nodes()
        while True:
            ids = [cluster.head_node.node_id, second.node_id]
            folder = cluster.head_node.get_session_dir_path()
            told = {"address": cluster.address, "nodes": ids, "folder": folder}
            print(json.dumps(told), flush=True)
            order = sys.stdin.readline().strip()
            if order == "kill":
                cluster.remove_node(second, allow_graceful=False)
            elif order == "add":
                second = cluster.add_node(num_cpus=1, object_store_memory=STORE)
                cluster.wait_for_nodes()
            else:
                return
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
