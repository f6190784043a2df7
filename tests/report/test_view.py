"""Several records of one suite make a page: what changed
first, and what cannot be compared is said.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from pytest_recsys_mt import DataError
from tests.report.records import document, everything, holds, row, task
from tests.report.test_page import HOSTILE, Page, said
from tests.support.cli import main
from tests.support.gate import Store
from tests.support.report_html import contents_of, render_view


def night(day: int, *rows: dict[str, Any], **changes: Any) -> tuple[str, Any]:
    started = {"started": f"2026-11-{day:02}T10:00:00+00:00", "seconds": 1.0}
    return f"{day}.json", {**document(*rows), "time": started, **changes}


def three(**changes: Any) -> list[tuple[str, Any]]:
    """Given out of order: shuffle(0) breaks on the second night, the others stay."""
    return [
        night(3, row(0), holds(1), row(2), task("hit@5", 0.3), **changes),
        night(1, holds(0), holds(1), row(2), task("hit@5", 0.2)),
        night(2, row(0), holds(1), row(2), task("hit@5", 0.25)),
    ]


def test_runs_stand_in_the_order_of_time() -> None:
    assert [
        (run.number, run.name, run.when) for run in contents_of(three())["runs"]
    ] == [
        (1, "1.json", "2026-11-01 10:00"),
        (2, "2.json", "2026-11-02 10:00"),
        (3, "3.json", "2026-11-03 10:00"),
    ]


def test_each_run_says_when_it_began_and_its_model_under_those_names() -> None:
    text = Page(render_view(three())).text
    assert "run gate verdicts began model 3 3.json" in text
    assert "2026-11-01 10:00 m" in text


def test_what_changed_comes_first_then_what_stays_broken() -> None:
    found = contents_of(three())
    titles = {
        key: [
            track.now.row["relation"] or track.now.row["metric"] for track in found[key]
        ]
        for key in ("changed", "bad", "steady")
    }
    assert titles == {
        "changed": ["shuffle(0)"], "bad": ["shuffle(2)"], "steady": ["hit@5", "shuffle(1)"],
    }  # fmt: skip
    text = Page(render_view(three())).text
    assert "holds in run 1, violated in run 2" in text
    assert (
        text.index("What changed (1)")
        < text.index("What stays broken")
        < text.index("Everything else")
    )


def test_the_answer_is_that_of_the_last_run() -> None:
    text = Page(render_view(three())).text
    assert (
        "✗ May not be released: 2 promises are broken. The last of 3 runs, number 3."
        in text
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 1}, "other seed: 0 then, 1 now"),
        ({"data_digest": "cd" * 32}, "other digest of the data: abababababab… then, cdcdcdcdcdcd… now"),
        ({"data": "ml-1m"}, "other data: mini then, ml-1m now"),
        ({"settings": {"users": 50, "alpha": 0.05, "prompt": None}},
         "other --recsys-users: 100 then, 50 now"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_said_and_is_no_change(
    changes: dict[str, Any],
    told: str,
) -> None:
    records = [night(1, holds(0)), night(2, row(0), **changes)]
    found = contents_of(records)
    assert list(found["runs"][1].differs) == [told]
    assert not found["tracks"][0].changed
    text = Page(render_view(records)).text
    assert f"not comparable with the run before: {told}" in text
    assert "violated in run 2 (not comparable)" in text


def test_another_error_rate_or_version_can_be_compared() -> None:
    settings = {"users": 100, "alpha": 0.01, "prompt": None}
    found = contents_of(
        [night(1, holds(0)), night(2, row(0), settings=settings, version="9.9")],
    )
    assert not found["runs"][1].differs
    assert found["tracks"][0].changed


def test_a_change_over_a_run_that_lacks_the_verdict_counts() -> None:
    records = [
        night(1, holds(0), holds(1)),
        night(2, holds(1)),
        night(3, row(0), holds(1)),
    ]
    changed = [track for track in contents_of(records)["tracks"] if track.changed]
    assert [track.now.row["relation"] for track in changed] == ["shuffle(0)"]
    assert changed[0].cards[1] is None


def test_a_verdict_that_the_last_run_lacks_is_said_to_be_gone() -> None:
    text = Page(render_view([night(1, row(0), holds(1)), night(2, holds(1))])).text
    assert "violated in run 1; the last run does not have it" in text


def test_releases_of_other_names_are_one_model_if_there_is_one_a_run() -> None:
    test = "suites/metamorphic/test_it.py::test_it"
    records = [
        night(day, holds(0, model=name, nodeid=f"{test}[{name}]"))
        for day, name in ((1, "ours-1"), (2, "ours-2"))
    ]
    (track,) = contents_of(records)["tracks"]
    assert all(track.cards)


def test_several_models_have_tracks_of_their_own() -> None:
    rows = [holds(0), holds(0, model="n")]
    rows[1]["nodeid"] = rows[1]["nodeid"].replace("[m", "[n")
    assert len(contents_of([night(1, *rows), night(2, *rows)])["tracks"]) == 2


def test_a_record_of_another_suite_is_refused_with_what_it_is() -> None:
    other = holds(0, nodeid="else/test_else.py::test_else[m]")
    with pytest.raises(
        DataError,
        match=r"'2.json' \(m\) has no test of the other records: .*test_else",
    ):
        render_view([night(1, holds(0)), night(2, other), night(3, holds(0))])


def test_a_damaged_record_is_named() -> None:
    broken = {**document(), "results": [{"status": "violated"}]}
    with pytest.raises(
        DataError,
        match=r"'old\.json' is not a record as --recsys-json writes it",
    ):
        render_view([night(1, holds(0)), ("old.json", broken)])


def test_records_of_before_have_a_page_too() -> None:
    old = document(holds(0))
    for key in ("settings", "environment", "time", "data_digest"):
        del old[key]
    text = Page(render_view([("old.json", old), night(2, row(0))])).text
    assert "not known" in text


def test_the_page_loads_nothing_and_is_the_same_for_the_same_records() -> None:
    page = Page(render_view(three()))
    assert render_view(three()) == render_view(json.loads(json.dumps(three())))
    assert page.tags["script"] == page.tags["style"] == 1
    assert not page.values("src")
    assert all(
        value.startswith("#") or value == "data:," for value in page.values("href")
    )
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in page.values("href") if value.startswith("#")} <= set(
        ids,
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    harmless, hostile = (
        Page(render_view([(f"a{word}", said(word)), (f"b{word}", said(word))]))
        for word in ("harmless", text)
    )
    assert hostile.tags == harmless.tags
    assert hostile.of == harmless.of


def files(folder: Path, records: list[tuple[str, Any]]) -> list[str]:
    for name, record in records:
        (folder / name).write_text(json.dumps(record))
    return [str(folder / name) for name, _ in records]


def test_the_command_makes_the_page(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = files(tmp_path, three())
    page = tmp_path / "it.html"
    assert main(["view", *given, "-o", str(page)]) == 0
    assert capsys.readouterr().out == f"page written to {page}\n"
    assert page.read_text() == render_view(
        [(path, record) for path, (_, record) in zip(given, three(), strict=True)],
    )


def test_of_kept_runs_those_like_the_latest_are_shown_under_their_numbers(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view"]) == 2
    assert "no run is kept in" in capsys.readouterr().err
    for at, rows in (
        (1, [holds(0)]),
        (2, [task("hit@5", 0.2)]),
        (3, [row(0)]),
        (4, [holds(0), holds(1)]),
    ):
        _, record = night(at, *rows)
        record |= {
            "digests": {"suite": ""},
            "gate": {**record["gate"], "status": "passed"},
        }
        Store.of(tmp_path).keep(record, [json.dumps(record)], tmp_path, everybody=True)
    assert main(["view"]) == 0
    text = Page((tmp_path / "view.html").read_text()).text
    assert "3 runs" in text
    assert "holds in run 1, violated in run 3, holds in run 4" in text


def test_a_hundred_runs_take_less_than_two_megabytes() -> None:
    rows = [(row if at % 7 == 0 else holds)(at) for at in range(150)]
    late = [(row if at % 5 == 0 else holds)(at) for at in range(150)]
    records = [
        (f"run {n}", night(1, *(late if n % 3 else rows))[1]) for n in range(1, 101)
    ]
    for n, (_, record) in enumerate(records):
        record["time"] = {"started": f"2026-01-01T10:{n // 60:02}:{n % 60:02}+00:00"}
    text = render_view(records)
    assert len(text) < 2_000_000
    page = Page(text)
    assert "The latest 10:" in page.text


def test_it_is_served_to_this_machine_alone(tmp_path: Path) -> None:
    given = files(tmp_path, three())
    code = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", code, "view", *given, "--serve"],
        stdout=subprocess.PIPE, text=True,
    ) as serving:  # fmt: skip
        assert serving.stdout is not None
        address = serving.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        assert "May not be released" in httpx2.get(address).text
        place = address.rpartition("/")[0]
        assert [
            httpx2.get(f"{place}{end}").status_code for end in ("/", "/view.html")
        ] == [
            404,
            404,
        ]
        serving.send_signal(signal.SIGINT)
        assert serving.wait(10) == 0


def test_the_command_says_what_is_wrong_with_a_file(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = files(tmp_path, three())
    (tmp_path / "foreign.json").write_text('{"schema": "other/1"}')
    for arguments, told in (
        ([given[0], given[0]], "is given twice"),
        ([given[0], str(tmp_path / "none.json")], "none.json': it cannot be read"),
        (
            [given[0], str(tmp_path / "foreign.json")],
            "foreign.json': it is not a record",
        ),
        ([*given, "-o", given[0]], "has no known ending"),
    ):
        assert main(["view", *arguments]) == 2
        assert told in capsys.readouterr().err
    assert json.loads(Path(given[0]).read_text())["schema"], "no record is overwritten"


def test_a_view_of_everything_has_a_page() -> None:
    assert (
        "Not applicable in any run (1)"
        in Page(render_view([("a", everything()), ("b", everything())])).text
    )
