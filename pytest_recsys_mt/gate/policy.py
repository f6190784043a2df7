"""The policy of a release gate, from ``recsys.toml``; read at the start of a run, so
with the standard library alone.
"""

import datetime
import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import parts_of
from pytest_recsys_mt.gate.states import vacuous_of
from pytest_recsys_mt.safety.errors import PolicyError, meant
from pytest_recsys_mt.safety.files import content_of, failing_as, look_alike, toml_of

FILE = "recsys.toml"
"""File name in the root folder of the run, used if no option names a policy."""

MARGIN = 0.1
"""How much worse a mean may be. If two users of 100 changed, and effects lie in [0, 1],
the test shows that the mean moved by less than 0.031; with two of 50, by less than
0.060. Noise needs more users.
"""

SUSPICIOUS = 0.2
"""A metric that improves by more than this is suspicious."""

Vacuous = Literal["allow", "refuse"]
"""The actions of a gate for a verdict that holds vacuously."""

CHOOSERS = ("suite", "test", "relation", "model", "oracle", "metric")
"""The facts by which a rule chooses rows: patterns as for file names."""

BEFORE_A_RUN = ("suite", "test", "relation", "model")
"""The facts known of a test before it runs."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The rows that an entry applies to: those that match all its patterns."""

    patterns: Mapping[str, str]

    def fits(self, facts: Mapping[str, object]) -> bool:
        """Whether all patterns match; a missing or empty fact matches none."""
        return all(
            fnmatch.fnmatchcase(str(facts.get(name) or ""), pattern)
            for name, pattern in self.patterns.items()
        )

    def __str__(self) -> str:
        return ", ".join(
            f"{name} = {pattern!r}" for name, pattern in self.patterns.items()
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """The margins for some rows in place of the general policy."""

    choice: Choice
    gates: bool = True
    reason: str = ""
    margin: float | None = None
    suspicious: float | None = None
    vacuous: Vacuous | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A known violation, which passes for a while."""

    choice: Choice
    until: datetime.date
    reason: str

    def expired(self, today: datetime.date) -> bool:
        """Whether its last day is over."""
        return today > self.until


@dataclass(frozen=True, slots=True)
class ListsRule:
    """How far the lists of users must agree with those of the baseline.

    Attributes:
        agreement: The least mean agreement (RBO), in (0, 1).
        group: The slicing of the run whose groups are judged one by one, such as
            ``age``, or one group, such as ``age=18-24``; empty for all users.
        model: A pattern for the models it applies to.
    """

    agreement: float
    group: str = ""
    model: str = "*"


@dataclass(frozen=True, slots=True)
class Policy:
    """The conditions of a release.

    Attributes:
        alpha: Chance that any of all comparisons that gate is called a regression by
            bad luck; None takes that of the run.
        margin: How much worse than the baseline a mean may be.
        suspicious: How much better a metric may be before it is suspicious.
        changed_lists: The largest share of users whose list may differ from that of the
            baseline; None reports it only.
        vacuous: Whether a promise may be kept only because the recommender does not
            read the part that it is about.
        inconclusive: Whether an unclear result fails or is passed over; None leaves it
            to the run.
        rules: The first rule that matches a row applies to it.
        lists: How far lists must agree with those of the baseline; each rule applies.
    """

    alpha: float | None = None
    margin: float = MARGIN
    suspicious: float = SUSPICIOUS
    changed_lists: float | None = None
    vacuous: Vacuous = "allow"
    inconclusive: Literal["fail", "skip"] | None = None
    rules: tuple[Rule, ...] = ()
    known: tuple[Known, ...] = ()
    lists: tuple[ListsRule, ...] = ()

    def rule(self, row: Mapping[str, object]) -> Rule:
        """The rule for a row of the record; one that changes
        nothing if none of the policy matches.
        """
        facts = facts_of(row)
        return next(
            (rule for rule in self.rules if rule.choice.fits(facts)),
            Rule(Choice({})),
        )

    def refuses(self, row: Row) -> bool:
        """Whether a row of the record holds in a way that may not pass."""
        return (
            bool(vacuous_of(row))
            and (self.rule(row).vacuous or self.vacuous) == "refuse"
        )

    def known_of(self, facts: Mapping[str, object]) -> Known | None:
        """The known violation that matches a test or a row, if any."""
        return next((known for known in self.known if known.choice.fits(facts)), None)


def facts_of(row: Mapping[str, object]) -> dict[str, object]:
    """The facts of a row of the record that patterns are matched against."""
    test = parts_of(str(row["nodeid"])).function
    return {**{name: row.get(name) for name in CHOOSERS}, "test": test}


def today() -> datetime.date:
    """The day in UTC, so that a policy expires everywhere at the same time."""
    return datetime.datetime.now(datetime.UTC).date()


def load(path: Path) -> Policy:
    """The policy in a file.

    Raises:
        PolicyError: If it cannot be read, or if an entry is invalid; names the entry.
    """
    remedy = (
        f"{look_alike(path)}--recsys-policy (ini: recsys_policy) names a TOML file, such as recsys.toml; without it the "
        f"gate has its usual rules"
    )
    with failing_as(PolicyError, f"the policy {str(path)!r} cannot be read", remedy):
        content = content_of(path)
    try:
        data = toml_of(content)
    except ValueError as error:
        raise PolicyError(f"the policy {str(path)!r} is not TOML: {error}") from error
    return _Reader(str(path)).policy(data)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_NOT_NEGATIVE = (
    lambda value: _is_number(value) and 0 <= value < 1e9,
    "a number from 0",
)
_PATTERN = (
    lambda value: isinstance(value, str) and bool(value),
    "a pattern, as in 'scale_*'",
)

_ALLOWED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(CHOOSERS, _PATTERN),
    "gates": (lambda value: isinstance(value, bool), "true or false"),
    "alpha": (
        lambda value: _is_number(value) and 0 < value < 0.5,
        "a number between 0 and 0.5",
    ),
    "margin": _NOT_NEGATIVE,
    "suspicious": _NOT_NEGATIVE,
    "changed_lists": (
        lambda value: _is_number(value) and 0 < value < 1,
        "a share between 0 and 1",
    ),
    "agreement": (
        lambda value: _is_number(value) and 0 < value < 1,
        "a number between 0 and 1, as in agreement = 0.95",
    ),
    "group": _PATTERN,
    "vacuous": (lambda value: value in get_args(Vacuous), "'allow' or 'refuse'"),
    "inconclusive": (lambda value: value in ("fail", "skip"), "'fail' or 'skip'"),
}
"""The values that a key may have, and the text for others."""


@dataclass(frozen=True)
class _Reader:
    where: str

    def policy(self, data: Mapping[str, Any]) -> Policy:
        self._values(data, ("gate", "known"), "the file")
        gate = data.get("gate", {})
        if not isinstance(gate, dict):
            raise self._wrong("gate", gate, "a table: [gate]")
        keys = (
            "alpha",
            "margin",
            "suspicious",
            "changed_lists",
            "vacuous",
            "inconclusive",
            "rules",
            "lists",
        )
        values = self._values(gate, keys, "[gate]")
        values["rules"] = tuple(
            map(self._rule, self._tables(gate, "rules", "[[gate.rules]]")),
        )
        values["lists"] = tuple(
            map(self._lists_rule, self._tables(gate, "lists", "[[gate.lists]]")),
        )
        known = tuple(map(self._known, self._tables(data, "known", "[[known]]")))
        return Policy(**values, known=known)

    def _rule(self, table: Mapping[str, Any]) -> Rule:
        entry = "[[gate.rules]]"
        keys = ("gates", "reason", "margin", "suspicious", "vacuous")
        values = self._values(table, (*CHOOSERS, *keys), entry)
        reason = values.get("reason", "")
        if not isinstance(reason, str) or not (
            values.get("gates", True) or reason.strip()
        ):
            raise self._wrong(
                f"{entry} reason",
                reason,
                "a text that says why this does not gate",
            )
        said = {name: value for name, value in values.items() if name in keys}
        return Rule(self._choice(values, CHOOSERS, entry), **said)

    def _lists_rule(self, table: Mapping[str, Any]) -> ListsRule:
        entry = "[[gate.lists]]"
        values = self._values(table, ("agreement", "group", "model"), entry)
        if "agreement" not in values:
            raise self._wrong(f"{entry} agreement", None, _ALLOWED["agreement"][1])
        return ListsRule(**values)

    def _known(self, table: Mapping[str, Any]) -> Known:
        entry = "[[known]]"
        self._values(table, (*BEFORE_A_RUN, "until", "reason"), entry)
        until, reason = table.get("until"), table.get("reason")
        if isinstance(until, datetime.datetime) or not isinstance(until, datetime.date):
            raise self._wrong(
                f"{entry} until",
                until,
                "the last day, as in until = 2027-01-31",
            )
        if not isinstance(reason, str) or not reason.strip():
            raise self._wrong(
                f"{entry} reason",
                reason,
                "a text that says why it is there",
            )
        return Known(self._choice(table, BEFORE_A_RUN, entry), until, reason)

    def _choice(
        self,
        table: Mapping[str, Any],
        names: Sequence[str],
        entry: str,
    ) -> Choice:
        patterns = {name: table[name] for name in names if name in table}
        if not patterns:
            raise PolicyError(
                f"{self.where}: an entry of {entry} does not say what it applies to; give one or more "
                f"of {', '.join(names)}",
            )
        return Choice(patterns)

    def _tables(
        self,
        data: Mapping[str, Any],
        name: str,
        entry: str,
    ) -> list[Mapping[str, Any]]:
        tables = data.get(name, [])
        if not isinstance(tables, list) or not all(
            isinstance(table, dict) for table in tables
        ):
            raise self._wrong(name, tables, f"written as {entry}, once for each")
        return tables

    def _values(
        self,
        table: Mapping[str, Any],
        names: Sequence[str],
        entry: str,
    ) -> dict[str, Any]:
        for key in table:
            if key not in names:
                choices = f"it has {', '.join(names)}{meant(key, names)}"
                raise PolicyError(f"{self.where}: {entry} has no {key!r}; {choices}")
        values = dict(table)
        for name in filter(_ALLOWED.__contains__, table):
            fits, allowed = _ALLOWED[name]
            if not fits(values[name]):
                raise self._wrong(f"{entry} {name}", values[name], allowed)
            if _is_number(values[name]):
                values[name] = float(values[name])
        return values

    def _wrong(self, what: str, value: object, allowed: str) -> PolicyError:
        return PolicyError(f"{self.where}: {what} is {value!r}; it must be {allowed}")
