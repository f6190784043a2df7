"""`recsys-mt monitor`: a break is seen soon in nightly
records, and no user counts twice.
"""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.monitor import on_changes, on_values
from tests.gate.conftest import Run
from tests.gate.nights import HIGH, LOW, MARGIN, drawn, night, row, write
from tests.support.cli import main
from tests.support.gate import FIRST, _shares, monitor
from tests.support.oracles_statistics import log_evidence

Told = pytest.CaptureFixture[str]
Night = Any

COMMAND = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

@metamorphic(scale_ratings(2), reorder_history)
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""


def judged(told: Told, *arguments: str) -> tuple[int, str, str]:
    """Exit status, what was printed as one line, and errors."""
    status = main(["monitor", *arguments])
    printed = told.readouterr()
    assert all(len(line) <= 80 for line in printed.out.splitlines())
    return status, " ".join(printed.out.split()), printed.err


def nights(good: int, bad: int, **other: Any) -> list[Night]:
    """Nights of fresh users, with a break in one of two relations."""
    return [
        night(
            day,
            row(drawn(day, 0.0 if day <= good else 2 * MARGIN), **other),
            row(drawn(day, 0.0), "calm", **other),
        )
        for day in range(1, good + bad + 1)
    ]


def p_values(documents: list[Night], *, change: bool = False) -> list[float]:
    named = [(f"{number}", document) for number, document in enumerate(documents)]
    return list(monitor(named, 0.05, change=change)[0].p_values)


def test_runs_of_pytest_are_monitored_night_by_night(
    run: Run,
    project: pytest.Pytester,
) -> None:
    own = (project.path / "toys.py").read_text()
    versioned = own.replace(
        "    share = 0.0\n",
        "    share = 0.0\n    fingerprint = 'v1'\n",
        1,
    )
    project.makepyfile(toys=versioned, **{"release/test_toys": TEST})
    asked = 0
    for number, share in enumerate((0.0, 0.0, 0.6), 1):
        _, record = run(f"--recsys-seed={number}", share=share, json=f"{number}.json")
        rows = {each["relation"]: each for each in record["results"]}
        asked += rows["scale_ratings(2)"]["users"]
        assert {len(each["fingerprint"]) for each in record["results"]} == {64}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "monitor", "1.json", "2.json", "3.json"],
        cwd=project.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    (alarm,) = (line for line in lines if line[:1] == ["ALARM"])
    (quiet,) = (line for line in lines if line[:1] == ["quiet"])
    assert "scale_ratings(2):" in alarm
    assert "reorder_history:" in quiet
    assert alarm[3] == quiet[3] == "3"  # nights
    assert int(alarm[4]) + int(alarm[5]) == asked  # users, and those seen before
    assert int(alarm[5]) > 0
    assert "broken: alarm on night 3 (3.json" in done.stdout


@pytest.mark.parametrize("change", [False, True], ids=["fresh users", "the same users"])
def test_the_evidence_is_that_of_the_simulation(change: bool) -> None:
    means = enumerate((0.07, 0.05, 0.08, 0.06, 0.2, 0.19), 1)
    values = [drawn(day, mean, first=0 if change else None) for day, mean in means]
    effects = np.array([[list(each.values()) for each in values]])
    won = log_evidence((on_changes if change else on_values)(effects))[:, 0]
    expected = np.minimum.accumulate(np.exp(-np.maximum(won, 0.0)))
    found = p_values(
        [night(day, row(each)) for day, each in enumerate(values, 1)],
        change=change,
    )
    assert found == pytest.approx(expected, rel=1e-9)
    assert found[-1] < 0.5


def test_an_alarm_names_the_night_and_the_promise(tmp_path: Path, capsys: Told) -> None:
    paths = write(tmp_path, nights(12, 4))
    status, told, _ = judged(capsys, *reversed(paths))  # their times say which is first
    assert status == 1
    assert "16 nights, 2 verdicts; bets on users not seen on an earlier night" in told
    alarm, _, quiet = told.partition("quiet")
    assert "turned: same_ranking:rbo at most 0.05 broken: alarm on night 1" in alarm
    assert any(f"{number}.json" in alarm.replace(" ", "") for number in (14, 15, 16))
    assert "calm: same_ranking:rbo at most 0.05" in quiet
    assert " 16 1,600 0 " in alarm
    assert judged(capsys, *paths[:12])[0] == 0
    assert judged(capsys, "--alpha=1e-30", *paths)[0] == 0


def test_facts_that_are_missing_or_others_stop_nothing(
    tmp_path: Path,
    capsys: Told,
) -> None:
    odd = [{**each, "time": None, "calls": [], "digests": {}} for each in nights(2, 0)]
    odd[1]["results"].append(row(drawn(3, 0.0), "\x1b[31mred\n", margin="wide"))
    odd[1]["results"].append(
        row(drawn(3, 0.0), "\x1b[31mred\n", reach=[LOW, HIGH + 1], margin=9e9),
    )
    status, told, _ = judged(capsys, *write(tmp_path, odd))
    assert status == 0
    assert "\x1b" not in told
    assert "1 verdict of" in told


def test_records_of_both_schemas_are_one_row() -> None:
    old = nights(3, 3)
    new = [{**each, "schema": "recsys-mt/2"} if number > 2 else each for number, each in enumerate(old)]  # fmt: skip
    assert p_values(new) == p_values(old)


def test_other_users_continue_the_evidence_and_the_same_ones_do_not(
    tmp_path: Path,
    capsys: Told,
) -> None:
    first, second = night(1, row(drawn(1, 0.08))), night(2, row(drawn(2, 0.08)))
    mixed = night(2, row({**drawn(2, 0.08), **drawn(1, 0.08)}))
    alone, both = p_values([first]), p_values([first, second])
    assert both[0] == alone[0]
    assert both[1] < alone[0] / 2
    assert p_values([first, mixed]) == both
    status, told, error = judged(
        capsys,
        "--alpha=1e-9",
        *write(tmp_path, [first, mixed]),
    )
    assert (status, error) == (0, "")
    assert " 2 200 100 turned" in told
    status, told, error = judged(
        capsys,
        "--alpha=1e-9",
        *write(tmp_path, [first, first]),
    )
    assert status == 2
    assert " 1 100 100 turned" in told
    assert "2.json has no user who was not counted on an earlier night" in error
    assert "--change" in error


@pytest.mark.parametrize(
    ("told", "terms", "document"),
    [
        ("margin 0.01, before 0.05", {"margin": 0.01}, {}),
        ("score same_ranking:kendall, before same_ranking:rbo", {"oracle": "same_ranking:kendall"}, {}),
        ("promise within, before at most", {"allowed": "within"}, {}),
        ("model version b2, before none", {"fingerprint": "b2"}, {}),
        ("--recsys-k 5, before 10", {}, {"settings": {"users": 200, "k": 5, "replicates": 2}}),
    ],
)  # fmt: skip
def test_other_terms_begin_a_row_anew(
    told: str,
    terms: Night,
    document: Night,
    tmp_path: Path,
    capsys: Told,
) -> None:
    before, after = nights(2, 4), night(20, row(drawn(20, 0.0), **terms), **document)
    paths = write(tmp_path, [*before, after])
    assert judged(capsys, *paths[:-1])[0] == 1
    status, printed, _ = judged(capsys, *paths)
    assert status == 0
    begun = printed.replace(str(tmp_path).replace(" ", ""), "")
    assert f"{told}" in begun
    assert "begins anew with" in begun


def test_a_change_is_seen_in_the_same_users_and_their_level_is_none(
    tmp_path: Path,
    capsys: Told,
) -> None:
    high = [night(day, row(drawn(day, 0.2, first=0))) for day in range(1, 8)]
    status, told, _ = judged(capsys, "--change", *write(tmp_path, high))
    assert status == 0
    assert "bets on the change of the same users" in told
    assert "same_ranking:rbo worse by at most 0.05" in told
    worse = [night(day, row(drawn(day, 0.35, first=0))) for day in range(8, 10)]
    status, told, _ = judged(capsys, "--change", *write(tmp_path, [*high, *worse]))
    assert status == 1
    assert "alarm on night 8" in told


def test_answers_given_on_an_earlier_night_are_no_night(
    tmp_path: Path,
    capsys: Told,
) -> None:
    calm = [night(day, row(drawn(day, 0.0, first=0))) for day in range(1, 5)]
    worse = drawn(5, 0.12, first=0)
    twice = [*calm, night(5, row(worse)), night(6, row(worse), calls={"made": 0})]
    found = p_values(twice, change=True)
    assert found[5] == found[4] < 1
    asked = p_values([*twice[:5], night(6, row(worse))], change=True)
    assert asked[5] < found[4]
    status, told, error = judged(capsys, "--change", *write(tmp_path, twice))
    assert status == 2
    assert "1 night not counted: answers given on earlier ones" in told
    assert "--recsys-mode=refresh" in error


def test_both_directions_of_a_promise_are_bet_on() -> None:
    for promise, mean in (("at least", -0.1), ("within", -0.15), ("within", 0.15)):
        bad = [
            night(day, row(drawn(day, mean), allowed=promise)) for day in range(1, 4)
        ]
        assert p_values(bad)[-1] < 1e-3
        good = [
            night(day, row(drawn(day, 0.05), allowed=promise)) for day in range(1, 4)
        ]
        assert p_values(good)[-1] > 0.05
    metric: Night = {
        "margin": None,
        "metric": "ndcg@5",
        "oracle": "at_least:ndcg@5",
        "threshold": 0.3,
    }
    low = [
        night(day, row(drawn(day, 0.1), allowed="at least", **metric))
        for day in range(1, 4)
    ]
    assert p_values(low)[-1] < 1e-3


def test_what_the_answers_chose_is_not_bet_on(tmp_path: Path, capsys: Told) -> None:
    values = drawn(1, 0.5)
    rows = [
        row(values, "joint", joint=True),
        row(values, "step", oracle="monotone:ndcg@5"),
    ]
    status, told, error = judged(
        capsys,
        *write(tmp_path, [night(1, row(drawn(1, 0.0)), *rows)]),
    )
    assert (status, error) == (0, "")
    assert "2 verdicts of" in told
    assert "cannot be monitored" in told
    status, _, error = judged(capsys, *write(tmp_path, [night(1, *rows)]))
    assert status == 2
    assert "no record has values of users" in error


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{}", "it is not a record; name a file that --recsys-json wrote"),
        (json.dumps(night(1, row({"u1": 7.0}))), "'per_user' of 'u1' is 7.0"),
        (
            json.dumps({**night(1), "schema": "recsys-mt/9"}),
            "its schema is recsys-mt/9, and this",
        ),
        (None, "No such file"),
    ],
)
def test_what_is_no_record_is_named(
    text: str | None,
    told: str,
    tmp_path: Path,
    capsys: Told,
) -> None:
    good, bad = write(tmp_path, nights(1, 0))[0], tmp_path / "bad.json"
    if text is not None:
        bad.write_text(text, encoding="utf-8")
    status, printed, error = judged(capsys, good, str(bad))
    assert (status, printed) == (2, "")
    assert "bad.json' cannot be monitored: " in error
    assert told in error


def test_a_record_given_twice_is_no_night_of_a_change(
    tmp_path: Path,
    capsys: Told,
) -> None:
    same_users = [night(day, row(drawn(day, 0.0, first=0))) for day in (1, 2)]
    one, other = write(tmp_path, same_users)
    assert judged(capsys, "--change", one, other)[0] in (0, 1)
    for again in ((one, other, other), (one, one, other)):
        status, _, error = judged(capsys, "--change", *again)
        assert (status, "give each once" in error) == (2, True)
    status, _, error = judged(capsys, "--change", one, one)
    assert (status, "one record says nothing of a change" in error) == (2, True)


def test_a_folder_is_told_to_name_its_files(tmp_path: Path, capsys: Told) -> None:
    status, _, error = judged(capsys, str(tmp_path))
    assert (status, "/*.json" in error) == (2, True)


def test_usage_errors_are_status_2(tmp_path: Path, capsys: Told) -> None:
    (path,) = write(tmp_path, nights(1, 0))
    for alpha in ("0", "0.7", "nan", "low"):
        with pytest.raises(SystemExit, match="2"):
            main(["monitor", f"--alpha={alpha}", path])
        assert (
            f"{alpha!r} is not a chance above 0 and up to 0.5"
            in capsys.readouterr().err
        )
    status, _, error = judged(capsys, "--change", path)
    assert status == 2
    assert "one record says nothing of a change" in error


def test_a_family_is_corrected_by_holm() -> None:
    worse = row(drawn(1, 0.09))
    calm = [row(drawn(1, 0.0), f"calm {number}") for number in range(9)]
    (alone,), family = (
        monitor([("1", night(1, *rows))], 0.05, change=False)
        for rows in ([worse], [worse, *calm])
    )
    assert family[0].p_values == alone.p_values
    assert family[0].adjusted[0] == pytest.approx(
        min(1.0, 10 * alone.p_values[0] / FIRST),
    )
    assert math.isclose(alone.adjusted[0], alone.p_values[0] / FIRST)


def test_an_alarm_stays_whatever_is_monitored_later() -> None:
    documents = nights(4, 4)
    before = monitor(
        [(str(at), each) for at, each in enumerate(documents)],
        0.05,
        change=False,
    )
    new = [row(drawn(9, 0.0), f"new {number}") for number in range(30)]
    documents.append(night(9, row(drawn(9, 0.0)), row(drawn(9, 0.0), "calm"), *new))
    after = monitor(
        [(str(at), each) for at, each in enumerate(documents)],
        0.05,
        change=False,
    )
    assert before[0].alarm is not None
    assert after[0].alarm == before[0].alarm
    assert after[0].adjusted[: len(before[0].adjusted)] == before[0].adjusted
    assert [found.alarm for found in after[1:]] == [None] * 31


def test_all_shares_of_alpha_are_at_most_one() -> None:
    shares = _shares(range(50))
    assert shares[0] == FIRST
    assert 0.999 < sum(shares.values()) <= 1


@pytest.mark.parametrize("why", ["unreadable", "unmeasured"])
@pytest.mark.parametrize("change", [False, True])
def test_users_whose_value_is_unknown_speak_for_the_promise(
    change: bool,
    why: str,
) -> None:
    lost = {f"u{number}": 0 for number in range(100, 120)}
    everybody = drawn(1, 0.0, 120, 0)
    worse = drawn(2, 0.3, 100, 0)
    first = night(1, row(everybody))
    nights = {
        name: [first, night(2, row({**worse, **said}, details=details))]
        for name, said, details in (
            ("unread", {}, {why: {"users": lost}}),
            ("kept", dict.fromkeys(lost, LOW), {}),
            ("left out", {}, {}),
        )
    }
    if not change:
        nights = {name: row_of[1:] for name, row_of in nights.items()}
    found = {name: p_values(each, change=change)[-1] for name, each in nights.items()}
    assert found["unread"] == pytest.approx(found["kept"])
    assert found["left out"] < found["unread"]


def test_a_past_that_could_not_be_read_is_no_better_than_it_may_have_been() -> None:
    """One user in ten is bad each night; at first just these answers cannot be read."""
    nights: dict[bool, list[Night]] = {True: [], False: []}
    for day in range(1, 17):
        bad = set(np.random.default_rng(day).permutation(600)[:60].tolist())
        for hidden, found in nights.items():
            lost = bad if hidden and day <= 8 else set()
            values = {
                f"u{n}": 0.9 if n in bad else 0.0 for n in range(600) if n not in lost
            }
            users = {f"u{n}": 0 for n in sorted(lost)}
            found.append(
                night(day, row(values, details={"unreadable": {"users": users}})),
            )
    for found in nights.values():
        assert min(p_values(found, change=True)) > 0.05
