"""What models write beside their lists: drafts change
no verdict, and refusals make none.
"""

from typing import Any

import pytest

from tests.journeys.pages import rows_of
from tests.plugin.conftest import record_of

MODELS = '''
import re

from pytest_recsys_mt import Completion

FILM = re.compile(r"^\\d+\\. (.+ \\(\\d{4}\\))$", re.MULTILINE)


class Plain:
    deterministic = True
    fingerprint = "1"

    def complete(self, prompts):
        return [Completion(self.say(FILM.findall(each.messages[-1].content))) for each in prompts]

    def say(self, films):
        return lines(sorted(films)[:10])


class Drafts(Plain):
    """The same list, behind a draft and in other words."""

    def say(self, films):
        again = "\\n".join(f"- {film}" for film in films)
        return f"The candidates:\\n{again}\\n\\nDraft:\\n{lines(films[:10])}\\n\\n**Final ranking**\\n{super().say(films)}"


class Refuses(Plain):
    """The same list, but for some users."""

    share = 4

    def say(self, films):
        return super().say(films) if sum(map(len, films)) % self.share else "I cannot judge a person."


class SeldomRefuses(Refuses):
    share = 97


def lines(films):
    return "\\n".join(f"{place}. {film}" for place, film in enumerate(films, 1))
'''


def run(
    pytester: pytest.Pytester,
    models: str,
    users: int,
    *options: str,
    json: str,
) -> dict[str, Any]:
    """The record of a run of two promises."""
    pytester.runpytest_inprocess(
        "--pyargs", "pytest_recsys_mt.suites.metamorphic", "-k", "shuffle_candidates or only_candidates",
        "-p", "no:cacheprovider", f"--recsys-users={users}", "--recsys-shrink=0", f"--recsys-json={json}",
        *(f"--recsys-model=models.py:{name}" for name in models.split()), *options,
    )  # fmt: skip
    return record_of(pytester.path / json)


def found(record: dict[str, Any], model: str) -> dict[str, tuple[object, ...]]:
    """What a record says of a model, by oracle."""
    return {
        row["oracle"]: (row["status"], row["estimate"], row["per_user"], row["details"])
        for row in rows_of(record, model=f"models.py:{model}")
    }


@pytest.fixture
def shop(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(models=MODELS)
    return pytester


def test_drafts_change_nothing_and_refusals_claim_nothing(
    shop: pytest.Pytester,
) -> None:
    models = "Plain Drafts Refuses"
    record = run(shop, models, 80, json="one.json")
    replayed = run(shop, models, 80, "--recsys-mode=replay", json="replayed.json")
    assert replayed["results"] == record["results"]
    assert found(record, "Plain") == found(record, "Drafts")
    assert {status for status, *_ in found(record, "Plain").values()} == {"holds"}
    for status, estimate, values, details in found(record, "Refuses").values():
        assert (status, estimate, values) == ("inconclusive", None, {})
        assert details["unreadable"]["texts"] == [  # type: ignore[index]
            {"text": "I cannot judge a person.", "how": "it declines to answer"},
        ]
    assert record["readings"]["models.py:Drafts"]["unread"] == []
    assert record["readings"]["models.py:Refuses"]["unreadable"] > 0
    compared = {
        each["model"]: each["results"] for each in record["gate"]["comparisons"]
    }
    assert {each["change"] for each in compared["models.py:Drafts"]} == {"unchanged"}
    assert {each["change"] for each in compared["models.py:Refuses"]} <= {"ungated"}


def test_a_release_is_neither_blocked_nor_passed_by_what_cannot_be_read(
    shop: pytest.Pytester,
) -> None:
    (shop.path / "recsys.toml").touch()  # so that all users are asked
    run(shop, "Plain", 160, json="base.json")
    for name, status in (
        ("Drafts", "passed"),
        ("Refuses", "failed"),
        ("SeldomRefuses", "passed"),
    ):
        record = run(shop, name, 160, "--recsys-baseline=base.json", json="new.json")
        (comparison,) = record["gate"]["comparisons"]
        changes = {each["change"] for each in comparison["results"]}
        assert "regressed" not in changes, (name, changes)
        assert record["gate"]["status"] == status, (name, record["gate"]["sentence"])
        assert bool(record["readings"][f"models.py:{name}"]["unread"]) == (
            "Refuses" in name
        )


@pytest.mark.slow
def test_two_workers_read_what_one_process_reads(shop: pytest.Pytester) -> None:
    one, two = (
        run(shop, "Drafts SeldomRefuses", 200, *workers, json="record.json")
        for workers in ((), ("-n", "2"))
    )
    assert two["results"] == one["results"]
    assert two["readings"] == one["readings"]
