"""The one reader of pytest's node ids: ``suites/test_it.py::TestShop::test_it[model-shuffle]``."""

from __future__ import annotations

from typing import NamedTuple


class NodeId(NamedTuple):
    """The parts of a node id.

    Attributes:
        file: The path of the file; empty where a file outside the root folder is found by ``--pyargs``.
        names: The classes, and the function last; none for a file.
        parameters: What stands in brackets, without them; they may hold any text, ``::`` too.
    """

    file: str
    names: tuple[str, ...]
    parameters: str

    @property
    def function(self) -> str:
        """The name of the test function; empty for a file."""
        return self.names[-1] if self.names else ""


def parts_of(nodeid: str) -> NodeId:
    """A node id in its parts."""
    file, _, rest = nodeid.partition("::")
    names, _, parameters = rest.partition("[")
    return NodeId(file, tuple(filter(None, names.split("::"))), parameters.removesuffix("]"))


def function_of(nodeid: str) -> str:
    """The id of a test function: that of a test without its parameters."""
    file, names, _ = parts_of(nodeid)
    return "::".join([file, *names])


def spoken_of(nodeid: str) -> str:
    """The name of a test without ``test_``, and without its parameters."""
    return parts_of(nodeid).function.removeprefix("test_")
