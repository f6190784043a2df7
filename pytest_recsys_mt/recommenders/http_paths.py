"""Reads values of an answer by JMESPath, and says what is found where a value is not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.recommenders.http_map_file import MapFile, brief
from pytest_recsys_mt.safety.errors import MissingExtraError
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    from pytest_recsys_mt.recommenders.http_projections import Applied

LISTED = 8
"""Names of fields that a message lists."""


class UnreadError(ValueError):
    """An answer of which nothing is read; the text names the key and what was found."""


class Path:
    """An expression of a map.

    Args:
        file: The file of the map.
        keys: Where the expression stands in it.
        expression: In JMESPath.

    Attributes:
        place: The file, the line and the key, for messages.

    Raises:
        RecommenderError: If the expression is no JMESPath, or the library is missing.
    """

    def __init__(
        self, file: MapFile, keys: tuple[str, ...], expression: object
    ) -> None:
        try:
            import jmespath
            from jmespath.exceptions import JMESPathError
        except ModuleNotFoundError:
            raise MissingExtraError(
                "a map (map=) reads answers with jmespath, which is not installed; run: "
                "pip install 'pytest-recsys-mt[map]'",
            ) from None
        self.place = file.place(*keys)
        if not isinstance(expression, str) or not expression.strip():
            raise file.error(
                f"{brief(expression)} is no path; write one in JMESPath, such as 'result.hits[].sku'",
                *keys,
            )
        self.expression = expression
        try:
            self._parsed = jmespath.compile(expression)
        except (JMESPathError, ValueError, RecursionError) as error:
            raise file.error(
                f"{expression!r} is no JMESPath: {shortened(one_line(str(error)), 160)}; see https://jmespath.org",
                *keys,
            ) from None

    def value(self, said: Any) -> Any:
        """What the expression finds in an answer; None if nothing."""
        return self._applied(said).found

    def listed(self, said: Any) -> list[Any]:
        """The list that the expression finds.

        Raises:
            UnreadError: If it finds nothing, no list, or nothing in some entries of the
                list that it goes through.
        """
        applied = self._applied(said)
        found, left_out = applied.found, applied.left_out
        if found is None:
            raise self.unread(self.nothing(said))
        if not isinstance(found, list):
            raise self.unread(f"finds {brief(found)}, which is no list")
        if left_out is not None:
            first = left_out.missing[0]
            fields = _fields_of(first)
            raise self.unread(
                f"finds nothing in {len(left_out.missing)} of {left_out.entries} entries, the first {brief(first)}"
                f"{f', with {fields}' if fields else ''}",
            )
        return found

    def ids(self, said: Any) -> tuple[str, ...]:
        """The list of ids that the expression finds; raises as `listed`, and if an entry
        is no id.
        """
        found = self.listed(said)
        for number, each in enumerate(found, 1):
            if isinstance(each, bool) or not isinstance(each, str | int):
                fields = _fields_of(each)
                hint = f", with {fields}; name the one of the id" if fields else ""
                raise self.unread(
                    f"finds {brief(each)} as entry {number} of its list{hint}; an id is a text or a whole number",
                )
        return tuple(map(str, found))

    def numbers(self, said: Any, count: int) -> list[float]:
        """The list of as many numbers as there are ids; raises as `listed`, and if they
        are not.
        """
        found = self.listed(said)
        for number, each in enumerate(found, 1):
            is_number = isinstance(each, int | float) and not isinstance(each, bool)
            if not is_number or not math.isfinite(each):
                raise self.unread(
                    f"finds {brief(each)} as entry {number} of its list, which is no number",
                )
        if len(found) != count:
            raise self.unread(f"finds {len(found)} scores of {count} items")
        return [float(each) for each in found]

    def require_same_entries(self, said: Any, other: Path) -> None:
        """Raise an error if another expression reads other entries of an answer, or in
        another order, so that a score would be that of another item.

        Raises:
            UnreadError: If so.
        """
        from pytest_recsys_mt.recommenders.http_projections import are_shifted

        own, others = self._applied(said).sources, other._applied(said).sources
        if are_shifted(own, others):
            raise self.unread(
                f"does not read the entries that {other.expression!r} reads, in their order; use the same filter and slice in both"
            )

    def unread(self, problem: str) -> UnreadError:
        """The error for what the expression finds."""
        return UnreadError(self.said(problem))

    def said(self, about: str) -> str:
        """A sentence on what the expression finds, with its place in the map."""
        return f"{self.place} = {self.expression!r} {about}"

    def nothing(self, said: Any) -> str:
        """The end of the sentence on an answer in which it finds nothing."""
        return f"finds nothing in the answer; {self._seen(said)}"

    def _applied(self, said: Any) -> Applied:
        from jmespath.exceptions import JMESPathError

        from pytest_recsys_mt.recommenders.http_projections import apply

        try:
            return apply(self._parsed, said)
        except (JMESPathError, TypeError, ValueError) as error:
            text = shortened(one_line(str(error)), 160)
            raise self.unread(f"cannot be applied to the answer: {text}") from None

    def _seen(self, said: Any) -> str:
        """How far the expression leads: the last part of it that finds something, and the
        fields there.
        """
        found, reached = said, ""
        for length in range(1, self.expression.count(".") + 1):
            start = ".".join(self.expression.split(".")[:length])
            value = self._found_by(start, said)
            if value is None:
                break
            found, reached = value, start
        fields = _fields_of(found) or f"the value {brief(found)}"
        return f"{reached!r} has {fields}" if reached else f"it has {fields}"

    def _found_by(self, expression: str, said: Any) -> Any:
        import jmespath
        from jmespath.exceptions import JMESPathError

        try:
            return jmespath.search(expression, said)
        except (JMESPathError, TypeError, ValueError):
            return None


def _fields_of(value: Any) -> str:
    if not isinstance(value, Mapping) or not value:
        return ""
    names = [brief(name, 40) for name in list(value)[:LISTED]]
    more = len(value) - len(names)
    return f"the fields {', '.join(names)}{f' and {more} more' if more else ''}"
