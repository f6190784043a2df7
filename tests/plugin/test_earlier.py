"""What was not settled when a test last ran comes first, and
the end of a run says what became of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.engine import counterexample
from tests.support.gate import Store

SHOP = """
import os
from pytest_recsys_mt import NotApplicable, Recommendation

class Shop:
    deterministic = True

    def recommend(self, requests):
        return [Recommendation(self.ids(each)) for each in requests]

    def ids(self, request):
        breaks = os.environ["BREAKS"]
        if "refuses" in breaks:
            raise NotApplicable("closed")
        ids = [item.id for item in request.candidates]
        first = request.history[-1]
        if "order" not in breaks:
            ids.sort()
        if "ratings" in breaks and first.value > 5:
            ids.reverse()
        return tuple(ids[: request.k])
"""

TESTS = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shuffle_candidates

def test_of_something_else():
    pass

@pytest.fixture(scope="module")
def made():
    print("made for", __name__)

@metamorphic(shuffle_candidates, scale_ratings(2))
def test_it(made, source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    pytester.makepyfile(shop=SHOP, test_a=TESTS, test_b=TESTS)

    def run(breaks: str, *arguments: str) -> pytest.RunResult:
        monkeypatch.setenv("BREAKS", breaks)
        return pytester.runpytest_inprocess(
            "-v", "-s", "--recsys-model=shop.py:Shop", "--recsys-users=70", *arguments,
        )  # fmt: skip

    return run


def outcomes(result: pytest.RunResult) -> list[str]:
    """The tests in the order in which they ran."""
    found = [line.partition("::")[0] + "-" + line.partition("[shop.py-Shop-")[2].partition("]")[0]
             for line in result.outlines if line.startswith("test_") and "::test_it[" in line]  # fmt: skip
    return list(dict.fromkeys(found))


def said(result: pytest.RunResult) -> list[str]:
    """The lines on what became of tests, each in one."""
    text = "\n".join(result.outlines)
    found = re.findall(
        r"(?m)^((?:FIXED|SETTLED|SKIPPED(?= [a-z])|STILL|NEW) .*(?:\n      [^ \-+].*)*)$",
        text,
    )
    return [
        " ".join(each.replace("the same example shows it", "").split())
        for each in found
    ]


def test_what_failed_comes_first_and_is_said_to_be_fixed_or_not(run: Run) -> None:
    first = run("ratings")
    assert outcomes(first) == [
        "test_a.py-shuffle_candidates", "test_a.py-scale_ratings-2", "test_b.py-shuffle_candidates",
        "test_b.py-scale_ratings-2",
    ]  # fmt: skip
    assert said(first) == []
    again = run("ratings", "test_b.py")
    assert outcomes(again) == [
        "test_b.py-scale_ratings-2",
        "test_b.py-shuffle_candidates",
    ]
    assert said(again) == [
        "STILL scale_ratings(2) of shop.py:Shop: violated in run 1, violated now",
    ]
    again.stdout.fnmatch_lines(["      the same example shows it"])
    # A part of the tests ran meanwhile: of the others the run before counts. Equal
    # names are told apart.
    other = run("order")
    assert outcomes(other)[::2] == [
        "test_a.py-scale_ratings-2",
        "test_b.py-scale_ratings-2",
    ]
    assert sorted(said(other)) == [
        f"{word} {name} of shop.py:Shop (test_{file}.py::test_it[shop.py-Shop-{slug}]): {was} in run {run}, {now} now"
        for word, name, slug, was, now in (
            ("FIXED", "scale_ratings(2)", "scale_ratings-2", "violated", "holds"),
            ("NEW", "shuffle_candidates", "shuffle_candidates", "holds", "violated"),
        )
        for file, run in (("a", 1), ("b", 2))
    ]


def test_what_does_not_apply_any_more_is_said_to_be_skipped(run: Run) -> None:
    run("ratings", "test_a.py")
    assert said(run("refuses", "test_a.py")) == [
        "SKIPPED scale_ratings(2) of shop.py:Shop: violated in run 1, not-applicable now",
    ]


def test_modules_stay_together_so_that_their_fixtures_are_made_once(
    run: Run,
    pytester: pytest.Pytester,
) -> None:
    run("ratings", "test_b.py")
    result = run("ratings")
    assert [name[:6] for name in outcomes(result)] == [
        "test_b",
        "test_b",
        "test_a",
        "test_a",
    ]
    assert sum("made for" in line for line in result.outlines) == 2


def test_an_example_that_changed_is_shown_by_its_lines(
    run: Run,
    pytester: pytest.Pytester,
) -> None:
    run("ratings", "test_a.py")
    (pytester.path / "shop.py").write_text(SHOP.replace("> 5", "> 7"))
    result = run("ratings", "test_a.py")
    result.stdout.fnmatch_lines(["STILL scale_ratings(2)*", "      -*", "      +*"])
    assert all(
        len(line) <= 80
        for line in result.outlines
        if line.startswith(("STILL", "     "))
    )


@pytest.mark.parametrize(
    "option",
    ["--recsys-keep=no", "--recsys-data=other.csv", "--stepwise"],
)
def test_it_is_of_kept_runs_on_the_same_data_and_in_no_order_that_the_user_gave(
    run: Run,
    pytester: pytest.Pytester,
    option: str,
) -> None:
    rows = [
        f"u{u},i{(u * 7 + i) % 40},{1 + i % 5}" for u in range(80) for i in range(25)
    ]
    (pytester.path / "other.csv").write_text("user,item,rating\n" + "\n".join(rows))
    run("ratings", "test_b.py")
    result = run("", option)
    assert outcomes(result)[0] == "test_a.py-shuffle_candidates"
    assert bool(said(result)) is (option == "--stepwise")


def test_a_damaged_or_lost_run_costs_what_it_knew(
    run: Run,
    pytester: pytest.Pytester,
) -> None:
    run("ratings", "test_a.py")
    (kept,) = Store.of(pytester.path).runs()
    kept.record.write_bytes(b"nothing")
    result = run("ratings", "test_a.py")
    assert said(result) == [
        "STILL scale_ratings(2) of shop.py:Shop: violated in run 1, violated now",
    ]
    head = kept.record.with_name("head.json")
    values: list[object] = [1, {"a": 1}, [{}]]
    for value in values:
        head.write_text(json.dumps({**json.loads(head.read_text()), "tests": value}))
        assert run("ratings", "test_a.py").ret == 1


def test_what_was_kept_of_an_example_is_tried_before_any_other(
    run: Run,
    pytester: pytest.Pytester,
    tmp_path: Path,
) -> None:
    run("ratings", "test_a.py", "--recsys-json=one.json")
    run("ratings", "test_a.py", "--recsys-json=two.json")
    one, two = (
        next(row["shrunk"] for row in json.loads((pytester.path / name).read_text())["results"] if row["shrunk"])
        for name in ("one.json", "two.json")
    )  # fmt: skip
    assert (one["user"], one["source"]) == (two["user"], two["source"])
    assert two["calls"] < one["calls"] / 2


def test_two_workers_take_the_same_order(run: Run) -> None:
    run("ratings")
    result = run("ratings", "-n", "2")
    assert [line.partition(" (test")[0] for line in said(result)] == [
        "STILL scale_ratings(2) of shop.py:Shop",
    ] * 2
    assert sum("the same example shows it" in line for line in result.outlines) == 2


def test_an_example_that_is_not_seen_again_leaves_room_for_another(
    run: Run,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run("ratings", "test_a.py")
    look = counterexample._Search.run
    monkeypatch.setattr(
        counterexample._Search, "run",
        lambda search, limit, seconds, earlier=None: None if earlier else look(search, limit, seconds),
    )  # fmt: skip
    run("ratings", "test_a.py", "--recsys-json=two.json")
    rows = json.loads((pytester.path / "two.json").read_text())["results"]
    assert sum(row["shrunk"] is not None for row in rows) == 1


def test_data_that_changed_under_one_name_are_said(
    run: Run,
    pytester: pytest.Pytester,
) -> None:
    rows = [
        f"u{user},i{item},4,{item}\n"
        for user in range(80)
        for item in range(user % 9, 40, 2)
    ]
    data = pytester.path / "shop.csv"
    data.write_text("user,item,rating,timestamp\n" + "".join(rows), encoding="utf-8")
    run("order", "test_a.py", "--recsys-data=shop.csv")
    same = said(run("order", "test_a.py", "--recsys-data=shop.csv"))
    data.write_text(
        "user,item,rating,timestamp\n" + "".join(rows[:-9]),
        encoding="utf-8",
    )
    other = said(run("order", "test_a.py", "--recsys-data=shop.csv"))
    assert same == [
        "STILL shuffle_candidates of shop.py:Shop: violated in run 1, violated now",
    ]
    assert other == [f"{same[0].replace('run 1', 'run 2')}; the data are others now"]


def test_the_smallest_example_is_asked_again_before_anything_else(
    run: Run,
    pytester: pytest.Pytester,
) -> None:
    sizes = "str([(len(r.history), len(r.candidates)) for r in requests])"
    asked = f"with open('asked', 'a') as file: print({sizes}, file=file)"
    shop = pytester.path / "shop.py"
    shop.write_text(
        SHOP.replace("        return [Rec", f"        {asked}\n        return [Rec"),
    )

    def first_asked() -> str:
        text = (pytester.path / "asked").read_text()
        (pytester.path / "asked").unlink()
        return text.partition("\n")[0]

    both, whole = "[(1, 2), (1, 2)]", "[(20, 20), (20, 20), "
    # So few calls settle nothing; the first ones say whether it was mended.
    for breaks, how in (("ratings", "as"), ("", "otherwise than")):
        number = len(Store.of(pytester.path).runs()) + 1
        run("ratings", "--recsys-shrink=200")
        assert first_asked().startswith(whole)
        limited = run(breaks, "--recsys-max-calls=4")
        assert first_asked() == both
        told = (
            f"inconclusive now its smallest example is answered {how} in run {number}"
        )
        assert sum(each.endswith(told) for each in said(limited)) == 2, said(limited)
    run("ratings")
    first_asked()
    stopped = run("ratings", "-x")
    assert said(stopped)[-1] == (
        "STILL test_b.py::test_it[shop.py-Shop-scale_ratings-2]: violated in run 5, not judged now "
        "its smallest example is answered as in run 5"
    )
    first_asked()
    (pytester.path / "test_b.py").write_text(
        f"{TESTS}\npytestmark = pytest.mark.skip\n",
    )
    of_the_skipped = [
        each
        for each in said(run("ratings", "--recsys-max-calls=4"))
        if "test_b" in each
    ]
    assert [each.partition(" ")[0] for each in of_the_skipped] == ["SKIPPED"]
    first_asked()
    run("ratings", "--recsys-shrink=0")
    assert first_asked().startswith(whole)


def test_what_is_fixed_alone_may_depend_on_what_was_asked_before(run: Run) -> None:
    run("ratings")
    alone = run("", "test_a.py", "-k", "scale_ratings")
    (fixed,) = said(alone)
    assert (
        "violated in run 1, holds now; it ran alone now, and with 3 other tests"
        in fixed
    )
    assert "the answers depend on what was asked before" in fixed
    run("ratings")
    (fixed, *_) = said(run(""))
    assert "alone" not in fixed
