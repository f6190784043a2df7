"""Two prompts of one model are compared and gated as two models are."""

from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import record_of
from tests.support.cli import main

WRITER = """
import re

from pytest_recsys_mt import Completion


class Writer:
    '''Answers the prompt `person` with a whole list, and any other with one title.'''

    deterministic = True
    fingerprint = "1"

    def complete(self, prompts):
        return [Completion(self.answer(prompt.messages[-1].content, prompt.k)) for prompt in prompts]

    def answer(self, text, k):
        titles = re.findall(r"([A-Z][^,;:\\n]*? \\(\\d{4}\\))", text)
        shown = titles[-k:] if text.startswith("Act as") else titles[-1:]
        return "\\n".join(f"{at}. {title}" for at, title in enumerate(shown, 1))
"""
TEST = """
from pytest_recsys_mt.oracles import complete_list


def test_complete(recsys):
    assert complete_list(recsys.run(), margin=0.99)
"""


@pytest.fixture
def runs(pytester: pytest.Pytester) -> tuple[Path, dict[str, Any], pytest.RunResult]:
    pytester.makepyfile(writer=WRITER, test_it=TEST)
    for prompt, given in (("person", ()), ("wok", ("--recsys-baseline=person.json",))):
        result = pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", "--recsys-model=writer.py:Writer", "--recsys-users=60", "--recsys-k=5",
            "--recsys-shrink=0", f"--recsys-prompt={prompt}", f"--recsys-json={prompt}.json", *given,
        )  # fmt: skip
    return pytester.path, record_of(pytester.path / "wok.json"), result


def test_the_gate_says_which_prompts_it_compares(
    runs: tuple[Path, dict[str, Any], pytest.RunResult],
) -> None:
    _, record, result = runs
    (comparison,) = record["gate"]["comparisons"]
    assert comparison["refused"] == []
    assert comparison["counts"] == {"regressed": 1}
    assert comparison["against"] == "writer.py:Writer (--recsys-prompt=person)"
    result.stdout.fnmatch_lines(
        ["*writer.py:Writer against writer.py:Writer (--recsys-prompt*"],
    )


@pytest.mark.parametrize("first", [(), ("--recsys-prompt=person",)])
def test_a_leaderboard_compares_two_prompts_on_one_line(
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
    first: tuple[str, ...],
) -> None:
    relation = TEST.replace(
        "def test_complete(recsys)",
        "@pytest.mark.parametrize('k', [5])\ndef test_complete(recsys, k)",
    )
    pytester.makepyfile(writer=WRITER, test_it=f"import pytest\n{relation}")
    for name, given in (("a", first), ("b", ("--recsys-prompt=wok",))):
        pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", "--recsys-model=writer.py:Writer", "--recsys-users=60", "--recsys-k=5",
            "--recsys-shrink=0", "--recsys-keep=baseline", f"--recsys-json={name}.json", *given,
        )  # fmt: skip
    capsys.readouterr()
    assert main(["leaderboard", "a.json", "b.json"]) == 0
    shown = capsys.readouterr().out
    assert "1 of 1 pairs of values were compared" in shown
    assert "writer.py-Writer" not in shown


def test_the_gate_says_that_the_baseline_had_no_prompt_of_its_own(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(writer=WRITER, test_it=TEST)
    options = (
        "-p", "no:cacheprovider", "--recsys-model=writer.py:Writer", "--recsys-users=60", "--recsys-k=5",
        "--recsys-shrink=0",
    )  # fmt: skip
    pytester.runpytest_inprocess(
        *options,
        "--recsys-keep=baseline",
        "--recsys-json=default.json",
    )
    done = pytester.runpytest_inprocess(
        *options,
        "--recsys-prompt=wok",
        "--recsys-baseline=default.json",
        "--recsys-json=wok.json",
    )
    (comparison,) = record_of(pytester.path / "wok.json")["gate"]["comparisons"]
    assert comparison["against"] == "writer.py:Writer (without --recsys-prompt)"
    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_a_leaderboard_has_a_column_for_each_prompt(
    runs: tuple[Path, dict[str, Any], pytest.RunResult],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(runs[0])
    assert main(["leaderboard", "person.json", "wok.json"]) == 0
    shown = capsys.readouterr().out
    for prompt in ("person", "wok"):
        assert f"writer.py:Writer (--recsys-prompt={prompt})" in shown
