"""Who is in the zoo, and which promises each was made to break."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.zoo import faults, text
from benchmarks.zoo.taste import Sound


@dataclass(frozen=True)
class Member:
    """One recommender of the zoo.

    Attributes:
        name: Unique.
        make: Makes a fresh one.
        breaks: The promises that the planted fault breaks, by their name in
            `benchmarks.promises.PROMISES`; none for a sound recommender.
    """

    name: str
    make: Callable[[], object]
    breaks: frozenset[str] = frozenset()

    @property
    def sound(self) -> bool:
        """Whether it keeps every promise."""
        return not self.breaks


def _member(name: str, make: Callable[[], object], *breaks: str) -> Member:
    return Member(name, make, frozenset(breaks))


def _read(reader: Callable[[], text.Reader]) -> Callable[[], object]:
    return lambda: text.AsText(reader())


def _first(strength: float) -> Callable[[], object]:
    return lambda: faults.FirstCandidatesFirst(strength)


SOUND = (
    _member("sound, always alike", lambda: Sound(0)),
    _member("sound, temperature .1", lambda: Sound(0.1)),
    _member("sound, temperature .3", lambda: Sound(0.3)),
    _member("sound, temperature .6", lambda: Sound(0.6)),
    _member("sound, noise in ties only", lambda: Sound(0, step=0.25)),
    _member("sound text model", _read(text.Reader)),
)

FAULTY = (
    _member("reads the latest only", faults.ReadsTheLatestOnly, "reorder_history"),
    _member(
        "reads raw ratings",
        faults.ReadsRawRatings,
        "scale_ratings(2)",
        "shift_ratings(1)",
    ),
    _member("minds the scale", faults.MindsTheScale, "scale_ratings(2)"),
    _member("minds the offset", faults.MindsTheOffset, "shift_ratings(1)"),
    _member(
        "reads upside down",
        lambda: faults.ReadsUpsideDown(0),
        "raise_rating",
        "dislike_item",
    ),
    _member(
        "never forgets",
        lambda: faults.NeverForgets(0),
        "forget_item",
        "swap_history",
    ),
    _member("counts repeats", faults.CountsRepeats, "duplicate_history"),
    _member("answers by name", faults.AnswersByName, "rename_user"),
    _member("first candidates first", _first(2.0), "shuffle_candidates"),
    _member("always candidate one", faults.AlwaysCandidateOne, "shuffle_candidates"),
    _member("ties by order", faults.TiesByOrder, "shuffle_candidates"),
    _member(
        "minds the company",
        faults.MindsTheCompany,
        "add_irrelevant_candidates(5)",
    ),
    _member("minds the length", faults.MindsTheLength, "extend_list(5)"),
    _member("obsessed with popularity", faults.ObsessedWithPopularity, "swap_history"),
    _member(
        "constant answer",
        faults.ConstantAnswer,
        "swap_history",
        "only_candidates",
    ),
    _member("eclipsed by a stray", faults.EclipsedByAStray, "noisy_profile(1)"),
    _member(
        "minds odd lengths",
        faults.MindsOddLengths,
        "noisy_profile(1)",
        "drop_history(1)",
    ),
    _member(
        "worse with long histories",
        faults.GetsWorseWithHistory,
        "truncate_history(5)",
    ),
    _member("repeats itself", faults.RepeatsItself, "no_repeats", "complete_list"),
    _member("names others", faults.NamesOthers, "only_candidates"),
    _member("stops early", faults.StopsEarly, "complete_list"),
    _member("unseeded", faults.Unseeded, "same_seed_same_answer"),
    _member("cannot keep still", faults.CannotKeepStill, "same_seed_same_answer"),
    _member("all but random", lambda: Sound(8.0), "self_agreement"),
    _member("minds spaces", _read(text.MindsSpaces), "add_spaces(0.32)"),
    _member("minds words", _read(text.MindsWords), "random_words(rate=0.19)"),
    _member("minds case", _read(text.MindsCase), "change_case('upper')"),
    _member("minds slips", _read(text.MindsSlips), "typos(0.1)"),
    _member("minds wording", _read(text.MindsWording), "paraphrase_task"),
    _member("obeys titles", _read(text.ObeysTitles), "title_injection"),
    _member(
        "ignores the instruction",
        _read(text.IgnoresTheInstruction),
        "popularity_prompt('minimize') by 0.2",
    ),
    _member(
        "misreads the instruction",
        _read(text.MisreadsTheInstruction),
        "popularity_prompt('mitigate')",
        "popularity_prompt('minimize')",
        "popularity_prompt('minimize') by 0.2",
    ),
    _member("invents titles", _read(text.InventsTitles), "only_candidates"),
)

MEMBERS = (*SOUND, *FAULTY)

DOSES = tuple(
    (strength, _first(strength)) for strength in (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
)
"""Preference for early candidates at growing strength:
faults on both sides of the margin.
"""
