"""The Ray cluster of a run: how to reach it, and how many actors it has room for."""

import contextlib
import importlib.util
import logging
import math
import os
import re
import socket
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_recsys_mt.safety.errors import MissingExtraError, RecommenderError
from pytest_recsys_mt.safety.sanitize import one_line

_REACH = 5.0
"""Seconds to wait for the head node. Ray itself waits
two minutes and then ends the process.
"""


@dataclass(frozen=True, slots=True)
class Needs:
    """The resources that each actor takes of a node."""

    cpus: float = 1.0  # cores; PyTorch and numpy use as many threads
    gpus: float = 0.0  # graphics cards; a fraction shares one card

    def __str__(self) -> str:
        return f"cpus={self.cpus:g}, gpus={self.gpus:g}"


def require_ray() -> None:
    """Check that Ray is installed."""
    if importlib.util.find_spec("ray") is None:
        raise MissingExtraError(
            "Ray is not installed; run: pip install 'pytest-recsys-mt[ray]'",
        )


def connect() -> bool:
    """Connect this process to the cluster; returns whether this made a new connection."""
    with quietly():
        import ray

        if ray.is_initialized():
            return False
        address = os.environ.get("RAY_ADDRESS", "").strip() or "auto"
        try:
            _check(address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (
            ConnectionError,
            OSError,
            ValueError,
            RuntimeError,
            SystemExit,
        ) as error:
            named = "here" if address == "auto" else f"at RAY_ADDRESS={address!r}"
            raise RecommenderError(
                f"there is no Ray cluster to reach {named}: {one_line(str(error))[:200]}; start one "
                f"with 'ray start --head' on one machine and 'ray start --address=HOST:6379' on the "
                f"others, and run the tests on one of them, with RAY_ADDRESS=HOST:6379 or without",
            ) from None
    return True


def room(needs: Needs) -> int:
    """How many actors the nodes of the cluster hold at
    once, if nothing else runs there.
    """
    wanted = {"CPU": needs.cpus, "GPU": needs.gpus}
    return sum(
        math.floor(
            min(has.get(kind, 0.0) / each for kind, each in wanted.items() if each),
        )
        for has in _living()
    )


def offered() -> str:
    """The resources of each living node, for messages."""
    found = _living()
    return "; ".join(
        f"cpus={has.get('CPU', 0):g}, gpus={has.get('GPU', 0):g}" for has in found
    )


def _living() -> list[dict[str, float]]:
    import ray

    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Prevent Ray's own warnings from failing a run that turns warnings into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _check(address: str) -> None:
    if address.startswith("ray://"):
        raise ValueError(
            "ray:// is the address of a Ray Client, which streams no results; name the cluster's "
            "own address",
        )
    named = re.fullmatch(r"\[?([^\]]+)\]?:(\d+)", address)
    if named:
        socket.create_connection((named[1], int(named[2])), timeout=_REACH).close()
