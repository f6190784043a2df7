"""Applies an expression of JMESPath, and counts the entries that it leaves out.

It is imported where an answer is read alone, as the library may not be installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jmespath.visitor import TreeInterpreter

Node = Mapping[str, Any]
"""A part of a parsed expression."""


@dataclass
class LeftOut:
    """The entries of which one projection of an expression finds nothing.

    JMESPath leaves them out, so that a wrong name looks like a shorter list.

    Attributes:
        entries: How many it went through.
        missing: Those in which it finds nothing.
    """

    entries: int = 0
    missing: list[Any] = field(default_factory=list)


@dataclass
class Applied:
    """What an expression finds.

    Attributes:
        found: The value; None if nothing.
        left_out: The first projection that leaves entries out, if one does.
        sources: The entries of the answer that the values of the list come from, in
            their order; empty if they are not known.
    """

    found: Any
    left_out: LeftOut | None = None
    sources: Sequence[Any] = ()


class Interpreter(TreeInterpreter):  # type: ignore[misc, unused-ignore]
    """That of the library, but it follows the entries of each projection."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[int, LeftOut] = {}
        self.sources: list[Any] = []
        # The entry that a value was found in, by the `id` of the value, which is
        # held too: that of a value that is gone may be given again.
        self.roots: dict[int, tuple[Any, Any]] = {}

    def visit_projection(self, node: Node, value: Any) -> Any:
        base = self.visit(node["children"][0], value)
        return self._each(node, base) if isinstance(base, list) else None

    def visit_filter_projection(self, node: Node, value: Any) -> Any:
        base = self.visit(node["children"][0], value)
        if not isinstance(base, list):
            return None
        condition = node["children"][2]
        # What the condition excludes is left out on purpose.
        fitting = [each for each in base if self._holds(condition, each)]
        return self._each(node, fitting)

    def visit_value_projection(self, node: Node, value: Any) -> Any:
        base = self.visit(node["children"][0], value)
        is_table = isinstance(base, Mapping)
        return self._each(node, base.values()) if is_table else None

    def visit_or_expression(self, node: Node, value: Any) -> Any:
        first, second = node["children"]
        before = self._counted()
        found = self.visit(first, value)
        if not _is_false(found):
            return found
        self.counts = before
        return self.visit(second, value)

    def _holds(self, condition: Node, entry: Any) -> bool:
        before, sources = self._counted(), self.sources
        tree: Any = condition
        holds = not _is_false(self.visit(tree, entry))
        self.counts, self.sources = before, sources
        return holds

    def _counted(self) -> dict[int, LeftOut]:
        return {
            key: LeftOut(each.entries, [*each.missing])
            for key, each in self.counts.items()
        }

    def _each(self, node: Node, entries: Iterable[Any]) -> list[Any]:
        found, sources = [], []
        missing = []
        count = 0
        for entry in entries:
            count += 1
            value = self.visit(node["children"][1], entry)
            if value is None:
                missing.append(entry)
                continue
            found.append(value)
            source = self.roots.get(id(entry), (entry, entry))[1]
            sources.append(source)
            if isinstance(value, dict | list) and value is not entry:
                self.roots[id(value)] = (value, source)
        counted = self.counts.setdefault(id(node), LeftOut())
        counted.entries += count
        counted.missing += missing
        if all(isinstance(each, dict | list) for each in sources):
            self.sources = sources
        return found


def apply(parsed: Any, said: Any) -> Applied:
    """Apply a compiled expression to an answer; raises what `jmespath` raises."""
    interpreter = Interpreter()
    found = interpreter.visit(parsed.parsed, said)
    lacking = (each for each in interpreter.counts.values() if each.missing)
    sources = interpreter.sources
    is_of_each = isinstance(found, list) and len(sources) == len(found)
    return Applied(found, next(lacking, None), sources if is_of_each else ())


def are_shifted(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two lists of as many entries of one answer have the same entries, or some
    of them, at different places.
    """
    if len(some) != len(others):
        return False
    here, there = [[id(each) for each in entries] for entries in (some, others)]
    return here != there and not {*here}.isdisjoint(there)


def _is_false(value: Any) -> bool:
    """Whether JMESPath takes a value for false: 0 is none of these."""
    return value is None or value is False or value in ("", [], {})
