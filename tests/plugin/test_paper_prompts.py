"""``--recsys-prompts=paper``: each suite sends what its paper prints, and reads the
answers; the record, a gate and a file of the same name know which words were sent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from tests.plugin.conftest import record_of
from tests.support.cli import main
from tests.support.gate import prompts_of
from tests.support.llm_prompt_texts import paper_prompts, prompt_texts

SUITES = Path(__file__).resolve().parents[2] / "suites"
MODEL = '''
"""Answers each paper's prompt in the form that it asks for, and writes down what it is told."""
import re
from pathlib import Path
from pytest_recsys_mt import Completion

FILMS = ("Rocky (1976)", "Crash (2004)", "Platoon (1986)", "Psycho (1998)", "Pulp Fiction (1994)")


class Scribe:
    deterministic = True
    fingerprint = "scribe"

    def complete(self, prompts):
        said = [prompt.messages[-1].content for prompt in prompts]
        with Path("told.txt").open("a") as told:
            told.writelines(f"{each}\\n=====\\n" for each in said)
        return [Completion(self.answer(each)) for each in said]

    def answer(self, said):
        if "A wins" in said:
            lists = said.partition("The top ")[2].partition("Please analyze")[0].split("The top ")
            a, b = (sum(map(int, re.findall(r"[(]([0-9]{4})[)]", each))) for each in lists)
            won = "'Tie'" if a == b else "'A wins'" if a > b else "'B wins'"
            return f"Accuracy: {won} - newer films.\\n\\nBased on the analysis above, my conclusion is {won}."
        if "index and no any other" in said:
            return "Index: 1"
        if "the choice and no any other" in said:
            return "A"
        offered = re.findall(r"(?m)^\\d+\\. (.+)$", said)
        return "\\n".join(sorted(offered) or [each for each in FILMS if each not in said])
'''


@pytest.fixture
def shop(project: pytest.Pytester) -> pytest.Pytester:
    project.makepyfile(model=MODEL)
    return project


def run(shop: pytest.Pytester, suite: str, *more: str) -> dict[str, Any]:
    shop.runpytest_inprocess(
        SUITES / suite, "--recsys-users=20", "--recsys-json=record.json", "-p", "no:cacheprovider",
        f"--recsys-cache={shop.path / 'cache'}", "--recsys-prompts=paper", "--recsys-shrink=0", *more,
    )  # fmt: skip
    return record_of(Path("record.json"))


def told() -> list[str]:
    return Path("told.txt").read_text().split("\n=====\n")[:-1]


ASKED = {
    "metamorphic": ("random_words", "Given a user, as a recommender system"),
    "multidimensional": (
        "test_compliance",
        "Considering mini user_",
    ),
    "popularity": ("valid", "You are a helpful movie-expert AI tasked"),
    "lrworld": (
        "guessing and (similar_items or director or logline)",
        "You are a helpful recommender",
    ),
}


@pytest.mark.parametrize("suite", ASKED)
def test_a_suite_sends_the_words_of_its_paper(
    shop: pytest.Pytester,
    suite: str,
) -> None:
    chosen, words = ASKED[suite]
    record = run(shop, suite, "--recsys-model=model:Scribe", "-k", chosen)
    judged = [row for row in record["results"] if row["status"] != "not-applicable"]
    assert judged
    said = told()
    assert said
    begun = sum(each.startswith(words) for each in said)
    changed = suite == "metamorphic"  # of which some prompts were changed
    assert begun >= 20 if changed else begun == len(said)
    assert not any("could not be read" in row["reason"] for row in judged)
    if suite == "lrworld":
        found = [row["details"].get("figures", {}) for row in judged]
        missed = [each["missed_rate"] for each in found if "missed_rate" in each]
        assert missed == [0.0] * 3
    else:
        (readings,) = record["readings"].values()
        assert readings["answers"] > 0
        assert readings["unreadable"] == 0


def test_a_judge_is_asked_in_the_words_of_its_paper(shop: pytest.Pytester) -> None:
    record = run(
        shop, "arena", "--recsys-judge=model:Scribe", "--recsys-model=itemknn", "--recsys-against=random",
        "--recsys-k=5", "--recsys-history=5", "-k", "better",
    )  # fmt: skip
    said = told()
    assert all(
        each.startswith(
            "Considering you are a user of a movie recommendation platform."
        )
        and each.endswith("'A wins,' 'B wins,' or 'Tie'.")
        for each in said
    )
    (row,) = [row for row in record["results"] if row["oracle"] == "preferred:overall"]
    assert row["users"] == 20
    figures = row["details"]["figures"]
    assert figures["not read"] == 0
    assert figures["won"] + figures["tied"] + figures["lost"] == 40


def test_the_record_and_the_gate_know_whose_words_were_sent(
    shop: pytest.Pytester,
) -> None:
    record = run(shop, "popularity", "--recsys-model=model:Scribe", "-k", "valid")
    words = prompt_texts.read("paper", paper_prompts())
    prompts = record["settings"]["prompts"]
    assert prompts == {
        "sha256": words.sha256,
        "texts": dict(words.texts),
        "papers_of": sorted(paper_prompts()),
    }
    assert (
        prompts_of(cast("Any", record))
        == f"--recsys-prompts=paper ({words.sha256[:12]})"
    )
    shop.runpytest_inprocess(
        SUITES / "popularity", "--recsys-users=20", "-k", "valid", "--recsys-model=model:Scribe",
        "--recsys-baseline=record.json", "--recsys-json=default.json",
    )  # fmt: skip
    default = record_of(Path("default.json"))
    (comparison,) = default["gate"]["comparisons"]
    assert f"(--recsys-prompts=paper ({words.sha256[:12]}))" in comparison["against"]


def test_a_file_of_that_name_is_named_as_the_one_that_is_not_taken(
    shop: pytest.Pytester,
) -> None:
    Path("paper").write_text("[templates]\nwok = 'Mine: {watched}'\n")
    options = (
        SUITES / "popularity",
        "--recsys-users=5",
        "-k",
        "valid",
        "--recsys-model=model:Scribe",
    )
    result = shop.runpytest_inprocess(*options, "--recsys-prompts=paper")
    note = "--recsys-prompts=paper: the words of the papers, not the file 'paper' in this folder; "
    note += "--recsys-prompts=./paper names the file"
    result.stdout.fnmatch_lines([note])
    assert told()[-1].startswith("You are a helpful movie-expert")
    result = shop.runpytest_inprocess(*options, "--recsys-prompts=./paper")
    result.stdout.no_fnmatch_line("*the words of the papers*")
    assert told()[-1].startswith("Mine: ")


def test_the_command_writes_the_words_of_the_papers(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "words.toml"
    assert main(["prompts", "paper", "-o", str(file)]) == 0
    words = prompt_texts.read("paper", paper_prompts())
    assert prompt_texts.read(str(file), paper_prompts()).texts == words.texts
    capsys.readouterr()
    file.write_text("[lrworld_whole]\nbrand = 'Which brand? {options}'\n")
    with pytest.raises(
        ValueError,
        match=r"'lrworld_whole.brand' needs the fields \{options\}, \{semicolons\}, may have",
    ):
        prompt_texts.read(str(file), paper_prompts())


def test_two_suites_cannot_quote_one_text(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.toml" for name in ("one", "two")}
    for file in files.values():
        file.write_text("[templates]\nwok = '{watched}'\n")
    with pytest.raises(ValueError, match=r"'templates.wok' is a text of two papers"):
        prompt_texts.read("paper", files)
