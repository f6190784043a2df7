"""The measure behind the number of a row, and its limit, in words."""

from dataclasses import dataclass

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import measured
from pytest_recsys_mt.verdict.wording import SHARE, measured_words

SIGNS = {"at most": "<= ", "at least": ">= ", "within": "+-"}


@dataclass(frozen=True)
class Effect:
    """The measure behind a number, in words."""

    name: str
    percent: bool = False

    @property
    def unit(self) -> str:
        """The common unit of effects on one axis."""
        return "share of users or answers at fault" if self.percent else self.name


def effect_of(row: Row) -> Effect:
    """The measure behind the number of a row; rows of earlier
    records name only their metric.
    """
    measures = row.get("measures", "")
    name = measured_words(measures, measured(row).metric, joint=bool(row.get("joint")))
    return Effect(name, percent=measures.startswith(SHARE))


def limit_of(row: Row) -> str:
    """The limit of the promise, in words."""
    effect, limit = effect_of(row), measured(row).limit
    if limit is None:
        return ""
    text = f"{100 * limit:g}%" if effect.percent else f"{limit:g}"
    allowed = row.get("allowed")
    if allowed == "within":
        return f"between −{text} and {text}"
    return f"{allowed} {text}" if allowed else text


def limit_in_short(row: Row) -> str:
    """The limit of the promise, with a sign: ``<= 0.05``, ``>= 0.147``, ``+-0.1``."""
    limit = measured(row).limit
    if limit is None:
        return ""
    return f"{SIGNS.get(row.get('allowed') or '', '')}{limit:.3g}"
