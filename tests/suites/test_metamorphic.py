"""The metamorphic suite finds what is wrong with a recommender, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import record_of
from tests.suites import faults

SUITE = Path(__file__).resolve().parents[2] / "suites" / "metamorphic"

# What the suite must call violated in each, and nothing else.
OLD_ITEMS = ("truncate_history(20)", "truncate_history(50)")
"""What stands before the latest items of a long history."""
STEP = "rate_lowest, raise_a_step"
LONG = "users=30, candidates=150, k=50"
"""A list of 50 of 150 candidates."""

BROKEN: dict[type[faults.Sound], set[str]] = {
    faults.Sound: set(),
    faults.ReadsRawRatings: {
        "scale_ratings(2)",
        "scale_ratings(0.5)",
        "shift_ratings(1)",
    },
    faults.ReadsTheLatestOnly: {"reorder_history", "truncate_history(5)", *OLD_ITEMS},
    faults.CutsRatings: {"scale_ratings(0.5)"},
    faults.LosesTitles: {"k=20", "offer_extremes"},
    faults.LosesTheBest: {"k=20", "offer_extremes"},
    faults.FallsBack: {"truncate_history(3), swap_history"},
    faults.ServesHalf: {
        "swap_history",
        "truncate_history(5)",
        "truncate_history(3), swap_history",
    },
    faults.CountsRepeats: {"duplicate_history"},
    faults.AnswersByName: {"rename_user"},
    faults.FirstCandidatesFirst: {"shuffle_candidates", "add_irrelevant_candidates(5)"},
    faults.MindsTheCompany: {"add_irrelevant_candidates(5)", "ask_k(1)", "ask_k(50)"},
    faults.MindsTheLength: {"extend_list(5)", "ask_k(50)", STEP},
    faults.IgnoresTheUser: {
        "swap_history",
        "truncate_history(5)",
        "truncate_history(3), swap_history",
        "invert_ratings",
        *OLD_ITEMS,
    },
    faults.MindsOddLengths: {"noisy_profile(1)", "drop_history(1)"},
    faults.RepeatsItself: {
        "no_repeats",
        "complete_list",
        "k=20",
        "offer_extremes",
        "extend_list(5)",
        "ask_k(50)",
        LONG,
    },
    faults.NamesOthers: {"only_candidates", "extend_list(5)", "ask_k(1)", "ask_k(50)"},
    # What it leaves empty at the end of a list it names where the list is longer, or
    # has less in it.
    faults.StopsEarly: {
        "complete_list",
        "k=20",
        "offer_extremes",
        "extend_list(5)",
        "add_irrelevant_candidates(5)",
        "ask_k(1)",
        "ask_k(50)",
        LONG,
    },
    faults.StopsOnRawRatings: {
        "scale_ratings(2)",
        "scale_ratings(0.5)",
        "shift_ratings(1)",
    },
    faults.InventsInCompany: {"add_irrelevant_candidates(5)"},
    # Who gets the worst for a long history has what is like it last; a shorter one
    # raises that.
    faults.GetsWorseWithHistory: {"truncate_history(5)", "forget_item", STEP},
    faults.CannotKeepStill: {"same_seed_same_answer"},
    # One finding; everything else is judged by its noise.
    faults.SaysItIsSteady: {"same_seed_same_answer"},
}

# Run each time; the others with --slow. The promises alone are shown to find a fault
# each in tests/calibration.
ALWAYS = {
    faults.Sound,
    faults.IgnoresTheUser,
    faults.CannotKeepStill,
    faults.Remembers,
    faults.ReadsTitles,
}

# Another process costs more than all else, and only those that nothing is unclear of
# and those below meet it. A fault is clear from few users.
CHEAPLY = ("-k", "not ask_elsewhere", "--recsys-users=100")

# What shows in how or at what length a question is asked: the files that ask so say it,
# and no other.
HIDDEN: dict[type[faults.Sound], set[str]] = {
    faults.OffersFirstInLongLists: {"shuffle_candidates, k=20"},
    faults.HurriesInBatches: {"ask_alone"},
    # The first of a batch is asked again after another one, too.
    faults.Remembers: {"ask_alone", "ask_after_another", "same_seed_same_answer"},
    faults.BreaksTiesByHash: {"ask_elsewhere"},
    faults.ReadsTitles: {"title_injection"},
}


def each_of(faulty: dict[type[faults.Sound], set[str]]) -> list[Any]:
    """The parameters of a test, of which some are of the slow set."""
    return [
        pytest.param(
            fault,
            found,
            id=fault.__name__,
            marks=() if fault in ALWAYS else pytest.mark.slow,
        )
        for fault, found in faulty.items()
    ]


def rows_of(
    pytester: pytest.Pytester,
    fault: type[faults.Sound],
    *files: str,
    options: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        *(SUITE / file for file in files or [""]), f"--recsys-json={path}",
        f"--recsys-model={fault.__module__}:{fault.__name__}", "-p", "no:cacheprovider", "-q",
        "--recsys-shrink=0", *options,
    )  # fmt: skip
    rows: list[dict[str, Any]] = record_of(path)["results"]
    assert not [row for row in rows if row["status"] == "error"]
    return rows


@pytest.mark.parametrize(("fault", "promises"), each_of(BROKEN))
def test_the_suite_finds_the_fault(
    pytester: pytest.Pytester,
    fault: type[faults.Sound],
    promises: set[str],
) -> None:
    all_clear = fault in (faults.Sound, faults.SaysItIsSteady)
    rows = rows_of(pytester, fault, options=() if all_clear else CHEAPLY)
    found = {
        row["relation"] or row["oracle"] for row in rows if row["status"] == "violated"
    }
    assert found == promises
    if all_clear:
        assert not [row for row in rows if row["status"] == "inconclusive"]


@pytest.mark.parametrize(("fault", "promises"), each_of(HIDDEN))
def test_it_finds_what_shows_only_when_asked_otherwise(
    pytester: pytest.Pytester,
    fault: type[faults.Sound],
    promises: set[str],
) -> None:
    options = () if "ask_elsewhere" in promises else CHEAPLY
    files = ("test_answers.py", "test_asking.py", "test_candidates.py")
    rows = rows_of(pytester, fault, *files, options=options)
    assert promises == {
        ", ".join(
            filter(None, (row["relation"], row.get("against", "").partition("ask")[0])),
        )
        for row in rows
        if row["status"] == "violated"
    }


def test_noise_that_hides_all_at_another_size_is_no_finding(
    pytester: pytest.Pytester,
) -> None:
    rows = rows_of(pytester, faults.Varies, "test_sizes.py")
    assert {row["status"] for row in rows} == {"holds", "not-applicable"}
    hidden = {
        row["relation"] or row["nodeid"]
        for row in rows
        if "differ too much" in row["reason"]
    }
    assert len(hidden) == 3  # of 1,000 candidates there are too few


@pytest.mark.parametrize(
    ("fault", "file", "promise"),
    [
        (faults.ReadsFiftyItems, "test_sizes.py", "truncate_history(50)"),
        (faults.ReadsOneItemMore, "test_sizes.py", "truncate_history(50)"),
        (faults.SaysItReadsFiveItems, "test_sizes.py", "truncate_history(5)"),
        (faults.SaysThatTheOrderCounts, "test_history.py", "reverse_history"),
        (faults.RanksTheFirstHundred, "test_sizes.py", "shuffle_candidates"),
        (faults.LosesTheFirstItem, "test_candidates.py", "offer_extremes"),
        (faults.SwapsInFullBatches, "test_asking.py", "ask_in_one_batch"),
        (faults.CountsThePadding, "test_asking.py", "ask_in_one_batch"),
        (faults.LosesTheSign, "test_preferences.py", STEP),
        (faults.ReadsAsciiTitles, "test_titles.py", "spell_titles('plain')"),
        (faults.JoinsNamesakes, "test_titles.py", "replace_namesakes('namesakes')"),
        (faults.LeavesTiesToThePlace, "test_candidates.py", "shuffle_candidates"),
    ],
)
def test_it_finds_what_a_mean_at_the_usual_size_hides(
    pytester: pytest.Pytester,
    fault: type[faults.Sound],
    file: str,
    promise: str,
) -> None:
    rows = rows_of(pytester, fault, file)
    found = {row["relation"] for row in rows if row["status"] == "violated"}
    assert promise in found
    others = {
        "test_sizes.py": {"ask_k(50)"},
        "test_preferences.py": {"dislike_item"},
        "test_candidates.py": {"add_irrelevant_candidates(5)", "extend_list(5)"},
    }
    assert found <= {promise, *others.get(file, ()), "shuffle_candidates, k=20", ""}


def test_who_declares_how_much_is_read_is_held_to_that(
    pytester: pytest.Pytester,
) -> None:
    rows = rows_of(pytester, faults.SaysItReadsFiftyItems, "test_sizes.py")
    of_length = {
        (row["relation"], row["status"])
        for row in rows
        if "truncate" in row["relation"]
    }
    assert of_length == {
        ("truncate_history(20)", "holds"),
        ("truncate_history(50)", "holds"),
    }
    unasked = [row["reason"] for row in rows if row["status"] == "not-applicable"]
    said = "it declares that it reads the latest 50 items alone"
    assert sum(said in reason for reason in unasked) == 2  # the latest 50, and 100


def test_who_declares_that_titles_are_all_is_not_asked_about_namesakes(
    pytester: pytest.Pytester,
) -> None:
    rows = rows_of(pytester, faults.KnowsTitlesAlone, "test_titles.py")
    unasked = [row["reason"] for row in rows if row["status"] == "not-applicable"]
    (reason,) = unasked
    assert reason.endswith("claims to use titles, so its answer may stay the same")


def test_who_declares_that_no_history_is_read_is_not_asked_about_its_length(
    pytester: pytest.Pytester,
) -> None:
    rows = rows_of(
        pytester,
        faults.SaysItReadsNoHistory,
        "test_sizes.py",
        "test_history.py",
    )
    assert not [row["relation"] for row in rows if row["status"] == "violated"]
    unasked = [row["reason"] for row in rows if row["status"] == "not-applicable"]
    assert (
        sum(
            "declares that it does not read the history" in reason for reason in unasked
        )
        >= 4
    )


@pytest.mark.slow  # BreaksTiesByHash shows in another process too
def test_ties_by_address_show_in_another_process(pytester: pytest.Pytester) -> None:
    rows = rows_of(pytester, faults.BreaksTiesByAddress, "test_asking.py")
    assert {row["relation"]: row["status"] for row in rows} == {
        "ask_alone": "holds", "ask_in_one_batch": "holds", "ask_elsewhere": "violated", "ask_after_another": "holds",
    }  # fmt: skip


def test_lists_that_are_all_but_empty_hold_nothing(pytester: pytest.Pytester) -> None:
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        SUITE, f"--recsys-model={faults.__name__}:NamesOne", f"--recsys-json={path}",
        "-p", "no:cacheprovider", "-q", "--recsys-users=80", "--recsys-shrink=0", "-k", "not ask_elsewhere",
    )  # fmt: skip
    rows = record_of(path)["results"]
    compared = [
        row
        for row in rows
        if row["oracle"].startswith(
            ("same_", "self_", "different_", "never_", "unmoved"),
        )
        and row["relation"] != "ask_k(1)"  # a list of one is whole
    ]
    unclear = {row["relation"] for row in compared if row["status"] == "inconclusive"}
    assert unclear >= {
        "scale_ratings(2)", "shift_ratings(1)", "shuffle_candidates", "rename_user", "same_seed_same_answer", "ask_alone", "ask_after_another", "extend_list(5)", "",
    }  # fmt: skip
    assert not [row for row in compared if row["status"] == "holds"]
    for row in compared:
        if row["status"] == "inconclusive":
            assert "of the compared places are empty" in row["reason"]
