"""What models write beside their lists: drafts change no verdict, and refusals make none."""

from pathlib import Path
from typing import Any

import pytest

from tests.journeys.pages import Journey, rows_of

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
RUN = (
    "pytest --pyargs pytest_recsys_mt.suites.metamorphic -k 'shuffle_candidates or only_candidates' "
    "--recsys-users={users} "
)


def found(record: dict[str, Any], model: str) -> dict[str, tuple[object, ...]]:
    """What a record says of a model, by oracle."""
    return {
        row["oracle"]: (row["status"], row["estimate"], row["per_user"], row["details"])
        for row in rows_of(record, model=f"models.py:{model}")
    }


@pytest.fixture
def models(tmp_path: Path) -> Journey:
    journey = Journey(tmp_path)
    (journey.folder / "models.py").write_text(MODELS, encoding="utf-8")
    return journey


def test_drafts_change_nothing_and_refusals_claim_nothing(models: Journey) -> None:
    given = " ".join(f"--recsys-model=models.py:{name}" for name in ("Plain", "Drafts", "Refuses"))
    models.run(f"{RUN.format(users=80)} {given} --recsys-json=one.json")
    models.run(f"{RUN.format(users=80)} {given} --recsys-json=replayed.json --recsys-mode=replay")
    record = models.record("one.json")
    assert models.record("replayed.json")["results"] == record["results"]
    assert found(record, "Plain") == found(record, "Drafts")
    assert {status for status, *_ in found(record, "Plain").values()} == {"holds"}
    for status, estimate, values, details in found(record, "Refuses").values():
        assert (status, estimate, values) == ("inconclusive", None, {})
        assert details["unreadable"]["texts"] == [  # type: ignore[index]
            {"text": "I cannot judge a person.", "how": "it declines to answer"}
        ]
    assert record["readings"]["models.py:Drafts"]["unread"] == []
    assert record["readings"]["models.py:Refuses"]["unreadable"] > 0
    compared = {each["model"]: each["results"] for each in record["gate"]["comparisons"]}
    assert {each["change"] for each in compared["models.py:Drafts"]} == {"unchanged"}
    assert {each["change"] for each in compared["models.py:Refuses"]} <= {"ungated"}


def test_a_release_is_neither_blocked_nor_passed_by_what_cannot_be_read(models: Journey) -> None:
    (models.folder / "recsys.toml").touch()  # so that all users are asked
    models.run(f"{RUN.format(users=200)} --recsys-model=models.py:Plain --recsys-json=base.json")
    for name, status in (("Drafts", "passed"), ("Refuses", "failed"), ("SeldomRefuses", "passed")):
        models.run(
            f"{RUN.format(users=200)} --recsys-model=models.py:{name} --recsys-baseline=base.json --recsys-json=new.json"
        )
        record = models.record("new.json")
        (comparison,) = record["gate"]["comparisons"]
        changes = {each["change"] for each in comparison["results"]}
        assert "regressed" not in changes, (name, changes)
        assert record["gate"]["status"] == status, (name, record["gate"]["sentence"])
        assert bool(record["readings"][f"models.py:{name}"]["unread"]) == ("Refuses" in name)


@pytest.mark.slow
def test_two_workers_read_what_one_process_reads(models: Journey) -> None:
    models.enter(["pytest-xdist"])
    given = " ".join(f"--recsys-model=models.py:{name}" for name in ("Drafts", "SeldomRefuses"))
    for name, workers in (("one", ""), ("two", "-n 2")):
        models.run(f"{RUN.format(users=200)} {workers} {given} --recsys-json={name}.json")
    one, two = models.record("one.json"), models.record("two.json")
    assert two["results"] == one["results"]
    assert two["readings"] == one["readings"]
