"""The one reader of pytest's node ids:
``suites/test_it.py::TestShop::test_it[model-shuffle]``.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import measured
from pytest_recsys_mt.safety.sanitize import slug

_KEPT = 1 << 15
"""Ids whose parts are kept: each is needed again and again, where the rows of two
records are compared.
"""


class NodeId(NamedTuple):
    """The parts of a node id.

    Attributes:
        file: The path of the file; empty where a file outside the root folder is found
            by ``--pyargs``.
        names: The classes, and the function last; none for a file.
        parameters: The text in brackets, without them; they may hold any text,
            ``::`` too.
    """

    file: str
    names: tuple[str, ...]
    parameters: str

    @property
    def function(self) -> str:
        """The name of the test function; empty for a file."""
        return self.names[-1] if self.names else ""


@lru_cache(maxsize=_KEPT)
def parts_of(nodeid: str) -> NodeId:
    """A node id in its parts."""
    file, _, rest = nodeid.partition("::")
    names, _, parameters = rest.partition("[")
    return NodeId(
        file,
        tuple(filter(None, names.split("::"))),
        parameters.removesuffix("]"),
    )


def function_of(nodeid: str) -> str:
    """The id of a test function: that of a test without its parameters."""
    file, names, _ = parts_of(nodeid)
    return "::".join([file, *names])


def spoken_of(nodeid: str) -> str:
    """The name of a test without ``test_``, and without its parameters."""
    return parts_of(nodeid).function.removeprefix("test_")


def address(row: Row) -> str:
    """The id of a test without its model, which differs in the other run."""
    return _address(str(row["nodeid"]), str(row["model"]))


@lru_cache(maxsize=_KEPT)
def _address(nodeid: str, model: str) -> str:
    test = function_of(nodeid)
    own = _own_parameters(nodeid, model)
    return f"{test}[{own}]" if own else test


def own_parameters(row: Row) -> str:
    """The parameters of a test without its model."""
    return _own_parameters(str(row["nodeid"]), str(row["model"]))


@lru_cache(maxsize=_KEPT)
def _own_parameters(nodeid: str, model: str) -> str:
    own = parts_of(nodeid).parameters
    pattern = re.escape(slug(model))
    # Other parameters may stand before it.
    return (
        re.sub(f"(^|-){pattern}(?=-|$)", "", own, count=1).removeprefix("-")
        if pattern
        else own
    )


def name_of_row(row: Row) -> str:
    """The relation; for tests without a relation, the test and its own parameters."""
    if row["relation"] and measured(row).metric is None:
        return str(row["relation"])
    return " ".join(filter(None, [spoken_of(row["nodeid"]), own_parameters(row)]))


def step_of(row: Row) -> str:
    """The step that a verdict judges within its test: ``history=5
    against history=2``; else its relation.
    """
    against = row.get("against")  # earlier records lack it
    return f"{row['relation']} against {against}" if against else str(row["relation"])


def addresses(rows: Iterable[Row]) -> list[str]:
    """The tests of a run without their models, in order."""
    return sorted({address(row) for row in rows})
