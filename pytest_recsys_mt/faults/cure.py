"""The test that finds a fault, as code to paste."""

from ast import literal_eval
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import indent
from typing import Any, cast

from pytest_recsys_mt import relations
from pytest_recsys_mt.requests import Request


@dataclass(frozen=True)
class Cure:
    """A test that finds a fault.

    Attributes:
        relation: The oracle and the relation, in a few words.
        code: The test with its imports.
        change: The call that creates its transformation, ``extend_list(5)``, if it has
            one.
    """

    relation: str
    code: str
    change: str = ""

    def transformation(self) -> Callable[..., Request] | None:
        """The transformation that `change` creates; None without one."""
        if not self.change:
            return None
        name, _, arguments = self.change.partition("(")
        found: Any = getattr(relations, name)
        if arguments:
            found = found(*literal_eval(f"({arguments.removesuffix(')')},)"))
        return cast("Callable[..., Request]", found)


def same(relation: str, test: str, margin: float = 0.05) -> Cure:
    """A test with a change of the request that must not change the ranking."""
    return under(relation, test, "same_ranking", f'similarity="rbo", margin={margin}')


def unmoved(relation: str, test: str) -> Cure:
    """A test with a change of the request that must change no place, where a
    recommender always answers alike.

    A mean that may lose 0.05 hides a recommender that reads ratings a little, and
    wrongly.
    """
    return under(relation, test, "unmoved", 'similarity="rbo", margin=0.05')


def steady(relation: str, test: str, most: str, otherwise: str, arguments: str) -> Cure:
    """A test with a way to send requests that may change no answer.

    Where a recommender's answers vary, it may change no mean.
    """
    body = (
        f"if source.context.deterministic:\n"
        f"    assert never_differs(source, followup{most})\n"
        f"else:\n"
        f"    assert {otherwise}(source, followup, {arguments})"
    )
    return _test("never_differs", relation, test, f"never_differs, {otherwise}", body)


def different(relation: str, test: str, margin: float = 0.1) -> Cure:
    """A test with a change of the request that must change the ranking."""
    return under(
        relation,
        test,
        "different_ranking",
        f'similarity="rbo", margin={margin}',
    )


def moves(oracle: str, relation: str, test: str, margin: float = 0.02) -> Cure:
    """A test with a change of the request that must raise, lower or remove certain
    items.
    """
    return under(relation, test, oracle, f"margin={margin}")


def each_answer(oracle: str) -> Cure:
    """A test of a property that every answer must have."""
    return Cure(
        oracle,
        f"from pytest_recsys_mt.oracles import {oracle}\n\n\n"
        f"def test_{oracle}(recsys):\n    assert {oracle}(recsys.run(), margin=0.05)\n",
    )


def under(relation: str, test: str, oracle: str, arguments: str) -> Cure:
    """A test with a change of the request and an oracle on both answers."""
    body = f"assert {oracle}(source, followup, {arguments})"
    return _test(oracle, relation, test, oracle, body, relation)


def _test(
    oracle: str,
    relation: str,
    test: str,
    oracles: str,
    body: str,
    change: str = "",
) -> Cure:
    imported = relation.partition("(")[0]
    return Cure(
        f"{oracle} under {relation}",
        f"from pytest_recsys_mt import metamorphic\nfrom pytest_recsys_mt.oracles import {oracles}\n"
        f"from pytest_recsys_mt.relations import {imported}\n\n\n"
        f"@metamorphic({relation})\ndef test_{test}(source, followup):\n{indent(body, '    ')}\n",
        change,
    )
