"""The options of a run, and the readers of their texts.

`engine/settings` declares those of the core, and each suite its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.safety.errors import meant
from pytest_recsys_mt.verdict.wording import SETTLED


def some_text(text: str) -> str:
    """A reader of non-empty text."""
    if not text.strip():
        raise ValueError("it must not be empty")
    return text


def same(value: Any) -> Any:
    """The value itself."""
    return value


# Each is one object, and the defaults that others declare need not be hashable.
@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One option: ``--recsys-NAME``, unless it is
    `settled`, and the ini key ``recsys_NAME``.
    """

    name: str
    help: str
    metavar: str | None = None  # ``SPEC`` is a spec of a recommender
    default: Any = None
    read: Callable[[str], Any] = some_text  # a `ValueError` names the needed form
    in_ini: bool = True
    repeatable: bool = False  # its value is a tuple then
    flag: bool = False  # its switch takes no value
    bare: str | None = None  # the meaning of its switch without a value
    reproduced: bool = True  # by the command that reproduces a verdict
    # Its switch makes a run report on recommenders, whatever it collects.
    asks_report: bool = False

    @property
    def dest(self) -> str:
        """The attribute of `config.option`, and the ini key."""
        return f"recsys_{self.name.replace('-', '_')}"

    @property
    def settled(self) -> bool:
        """Whether it is a key of the ini file alone. Its switch of
        before is taken for one version more.
        """
        return self.name in SETTLED

    @property
    def switch(self) -> str:
        """The option as pytest's parser has it."""
        return f"--recsys-{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SuiteOption(Option):
    """An option that a suite declares: part of the record, of baselines and of printed
    commands, as those of the core.

    An entry point of the group ``pytest_recsys_mt.options`` names a tuple of them. A
    fixture reads its value with ``recsys_session.option(name)``.

    Attributes:
        make: Makes an object of the value. A `ValueError` names the error in it. If the
            object has an attribute `recorded`, the record has that in its place.
        verbs: The methods of which the object that a spec names needs one, such as
            ``("complete",)``.
        without: The names of options that cannot be given too, and why, by name.
        is_data: Whether that object replaces the data of the run. It then has a
            `dataset`, the name, and a `data`, the digest.
        wraps: Whether that object wraps the recommender under test. It then has a
            `recorded`, a text that identifies the wrapping, a `wrapped(subject,
            training, settings, executor)`, and a `differing(runner, probes)`: the
            answers that it changed, for the record, or None.
    """

    make: Callable[[Any], Any] = same
    verbs: tuple[str, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    is_data: bool = False
    wraps: bool = False


def _number(kind: type, what: str, fits: Callable[[Any], bool]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not fits(value):
            raise ValueError(f"{what} is needed")
        return value

    return read


def whole_number(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from `least` up."""
    return _number(int, f"a whole number from {least}", lambda value: value >= least)


def share(low: float, high: float, *, closed: bool = False) -> Callable[[str], float]:
    """A reader of numbers between `low` and `high`; with
    `closed`, the ends are allowed.
    """
    if closed:
        what = f"a number from {low:g} to {high:g}"
        return _number(float, what, lambda value: low <= value <= high)
    return _number(
        float,
        f"a number between {low:g} and {high:g}",
        lambda value: low < value < high,
    )


above_zero = _number(float, "a number above 0", lambda value: 0 < value < float("inf"))
seconds = _number(
    float,
    "a number of seconds from 0",
    lambda value: 0 <= value < float("inf"),
)


def one_of(*choices: str) -> Callable[[str], str]:
    """A reader of one of some words."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(
                f"choose one of {', '.join(choices)}{meant(text, choices)}",
            )
        return text

    return read


def several_of(*choices: str) -> Callable[[str], tuple[str, ...]]:
    """A reader of several of some words, with commas between them."""
    one = one_of(*choices)

    def read(text: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one(word.strip()) for word in text.split(",")))

    return read


def names(text: str) -> tuple[str, ...]:
    """A reader of names with commas between them."""
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    if not all(found):
        raise ValueError("names with commas between them are needed")
    return found


def switched(text: str) -> bool:
    """A reader of a flag in the ini file."""
    values = {"1": True, "true": True, "on": True, "yes": True}
    values |= {"0": False, "false": False, "off": False, "no": False}
    if text.casefold() not in values:
        raise ValueError("choose one of true, false")
    return values[text.casefold()]
