"""``--recsys-prompts``: what a language model is told in the words of a file."""

import tomllib
from pathlib import Path

import pytest

from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from pytest_recsys_mt.suites.arena import Comparison
from pytest_recsys_mt.suites.lrworld import Question
from tests.plugin.conftest import record_of
from tests.support.cli import main
from tests.support.llm_prompt_texts import prompt_texts
from tests.support.suites_arena import choice_prompt
from tests.support.suites_lrworld import prompt

MODEL = '''
"""Lists the candidates in the order of their titles, and writes down what it is told."""
import re
from pathlib import Path
from pytest_recsys_mt import Completion

class Scribe:
    deterministic = True
    fingerprint = "scribe"

    def complete(self, prompts):
        said = [prompt.messages[-1].content for prompt in prompts]
        with Path("told.txt").open("a") as told:
            told.writelines(f"{each}\\n=====\\n" for each in said)
        return [Completion("\\n".join(sorted(re.findall(r"(?m)^\\d+\\. (.+)$", each)))) for each in said]
'''
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import ask_elsewhere, popularity_prompt

@metamorphic(popularity_prompt("minimize"), ask_elsewhere)
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.3)
"""
OWN = """
[templates]
person = "What would {user} like, after {history}? Name {k}."
[instructions]
minimize = "Nothing famous."
"""


@pytest.fixture
def shop(project: pytest.Pytester) -> pytest.Pytester:
    project.makepyfile(TEST, model=MODEL)
    Path("own.toml").write_text(OWN)
    return project


def told() -> list[str]:
    found = Path("told.txt").read_text().split("\n=====\n")[:-1]
    Path("told.txt").unlink()
    return found


def test_a_run_inside_a_run_leaves_its_texts_alone(shop: pytest.Pytester) -> None:
    before = prompt_texts.text("instructions.minimize")
    prompt_texts.use(prompt_texts.read("own.toml"))
    try:
        shop.runpytest_inprocess("--recsys-model=model:Scribe", "--recsys-users=5")
        shop.runpytest_inprocess("--recsys-users=no number")
        assert prompt_texts.text("instructions.minimize") == "Nothing famous."
    finally:
        prompt_texts.leave()
    assert prompt_texts.text("instructions.minimize") == before


def test_the_model_is_told_what_the_file_says(shop: pytest.Pytester) -> None:
    options = (
        "--recsys-model=model:Scribe",
        "--recsys-users=70",
        "--recsys-json=record.json",
    )
    shop.runpytest_inprocess(*options, "--recsys-prompts=own.toml").assert_outcomes(
        passed=2,
    )
    asked = told()
    assert all(each.startswith("What would ") for each in asked)
    assert sum("Nothing famous." in each for each in asked) >= 20
    assert not any("recommender system" in each for each in asked)
    record = record_of(Path("record.json"))
    own = prompt_texts.read("own.toml")
    assert record["settings"]["prompts"] == {
        "sha256": own.sha256,
        "texts": dict(own.texts),
    }

    # The same texts are the same questions.
    shop.runpytest_inprocess(*options, "--recsys-prompts=own.toml").assert_outcomes(
        passed=2,
    )
    assert not Path("told.txt").exists()
    # Other texts are other questions.
    shop.runpytest_inprocess(*options).assert_outcomes(passed=2)
    asked = told()
    assert not any("Nothing famous" in each or "What would" in each for each in asked)
    assert sum("niche" in each for each in asked) >= 20
    assert record_of(Path("record.json"))["settings"]["prompts"] is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "[templates]\nwokk = 'x'",
            "*'templates.wokk'; did you mean 'templates.wok'?*",
        ),
        (
            "[templates]\nwok = 'Name {k}.'",
            "*'templates.wok' shows nothing of the user's history*",
        ),
        (
            "[templates]\nwok = '{watched} {kk}'",
            "*'templates.wok' has the unknown field {kk}*",
        ),
        (
            "[instructions]\nexclude_genre = 'No!'",
            "*needs the fields {genre}, and has none*",
        ),
        ("[instructions]\nminimize = 'No {x}'", "*needs the fields none, and has {x}*"),
        ("[instructions]\nminimize = 'No {'", "*a brace of its own is written twice*"),
        (
            "[instructions]\nminimize = ''",
            "*'instructions.minimize' must be a text, got ''*",
        ),
        (
            "[instructions]\nminimize = 3",
            "*'instructions.minimize' must be a text, got 3*",
        ),
        ("minimize = 'x'", "*'minimize' stands in no table*"),
        (
            "[lrworld_task]\ncast = '{k}'",
            "*may have the fields {asked}, {did}, *, and has {k}*",
        ),
        ("[judge]\nrole = 'Judge!'", "*needs the fields {task}, and has none*"),
        ("[instructions", "*it is not TOML*"),
        ("", "*it has no text*"),
    ],
)
def test_a_wrong_file_ends_the_run_before_anything_is_asked(
    shop: pytest.Pytester,
    content: str,
    says: str,
) -> None:
    Path("own.toml").write_text(content)
    result = shop.runpytest_inprocess(
        "--recsys-model=model:Scribe",
        "--recsys-prompts=own.toml",
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --recsys-prompts='own.toml': {says}"])
    assert not Path("told.txt").exists()


def test_questions_and_judges_are_told_what_a_file_says(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        "[lrworld_task]\nnext_item = 'Guess what {many} come next.'\n[answers]\nthink = 'Reason; then the {mark}.'\n"
        "[judge]\nrole = 'Be the user. {task}'\nwhich_overall = 'Which?'\n",
    )
    asked = Question(
        "1", "next_item", "personalization", "item", "movie", {"history": ("Up (2009)",)}, ("Heat", "Alien"), 0,
    )  # fmt: skip
    request = Request("u", (Rating(Item("up", "Up", 2009), 4),), Scale(), None, 1)
    comparison = Comparison(request, (Item("a"),), (Item("b"),))
    prompt_texts.use(prompt_texts.read(str(file)))
    try:
        question = prompt(asked, think=True).messages[0].content
        judged = choice_prompt(comparison, "", None).messages[0].content
    finally:
        prompt_texts.leave()
    assert question.startswith("Guess what movies come next.\n\n")
    assert question.endswith("\n\nReason; then the number.")
    assert judged.startswith("Be the user. You see two lists")
    assert judged.endswith("\n\nWhich?")


def test_a_file_that_is_not_there_is_named(shop: pytest.Pytester) -> None:
    result = shop.runpytest_inprocess("--recsys-prompts=none.toml")
    result.stderr.fnmatch_lines(
        ["ERROR: --recsys-prompts='none.toml': it cannot be read*"],
    )


def test_the_command_writes_all_texts_and_spares_a_file_that_exists(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "mine.toml"
    assert main(["prompts"]) == 0
    printed = capsys.readouterr().out
    assert main(["prompts", "-o", str(file)]) == 0
    assert file.read_text() == printed
    assert prompt_texts.read(str(file)).texts == prompt_texts.shipped()
    assert "wok" in tomllib.loads(printed)["templates"]
    assert main(["prompts", "-o", str(file)]) == 2
    assert "exists, and may hold texts of yours" in capsys.readouterr().err


def test_the_command_that_reproduces_a_verdict_names_the_file(
    shop: pytest.Pytester,
) -> None:
    shop.makepyfile(
        """
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import decreases
        from pytest_recsys_mt.relations import popularity_prompt

        @metamorphic(popularity_prompt("minimize"))
        def test_niche(source, followup):
            assert decreases(source, followup, "log_popularity_difference", margin=0.2)
        """,
    )
    shop.runpytest_inprocess(
        "--recsys-model=model:Scribe", "--recsys-prompts=own.toml", "--recsys-json=record.json", "-k", "niche",
    ).assert_outcomes(failed=1)  # fmt: skip
    (row,) = record_of(Path("record.json"))["results"]
    assert "--recsys-prompts=own.toml" in row["reproduce"]
