"""Each paper of `examples/papers` passes a sound model, and finds the one that has the
fault of its paper.
"""

import ast
from pathlib import Path

import pytest

from tests.plugin.conftest import record_of

PAPERS = Path(__file__).resolve().parents[2] / "examples" / "papers"
FILES = sorted(PAPERS.glob("*.py"))
MODELS = '''
import re
import zlib

from pytest_recsys_mt import Completion

FILM = re.compile(r"^\\d+\\. (.+ \\((\\d{4})\\))", re.MULTILINE)


class Sound:
    """Lists the oldest films, and gives one reason for all of them."""

    deterministic = True

    def complete(self, prompts):
        return [Completion(self.say(each.messages[-1].content)) for each in prompts]

    def say(self, text):
        if "Why should I see" in text:
            return self.explain(text)
        films = sorted(FILM.findall(text), key=lambda film: (film[1], film[0]))
        return "\\n".join(self.order([film for film, _ in films], text))

    def order(self, films, text):
        return films

    def explain(self, text):
        return "It is older than most, as is " + text.rpartition("see ")[2]


class Unfair(Sound):
    def order(self, films, text):
        told = re.search("is (a woman|an anxious person)", text)
        return films[::-1] if told else films


class Gullible(Sound):
    def order(self, films, text):
        return sorted(films, key=lambda film: " - " not in film)


class Fickle(Sound):
    def explain(self, text):
        return f"{zlib.crc32(text.encode())}"


class Noisy(Sound):
    """Its films and its reasons vary, whatever it is told."""

    deterministic = False

    def complete(self, prompts):
        return [self.answer(each) for each in prompts]

    def answer(self, prompt):
        self.seed = prompt.seed
        return Completion(self.say(prompt.messages[-1].content))

    def order(self, films, text):
        at = self.seed % 3
        return [*films[at:10], *films[:at], *films[10:]]

    def explain(self, text):
        return "It is old. " if self.seed % 2 else "Others have liked it."
'''

FAULTS = {
    ("faireval", "Unfair"): {
        *(
            f"test_{each}[{name}]"
            for each in ("snsr", "snsv_and_pafs")
            for name in ("jaccard", "prag", "serp")
        ),
        "test_no_change_beyond_noise[told-a-woman]",
    },
    ("biasrecbench", "Gullible"): {
        f"test_praise_does_not_lift[praised-{kind}]"
        for kind in ("authority", "marketing", "popularity")
    },
    ("robustexplain", "Fickle"): {
        f"test_the_reason_is_stable[{noise}-words]"
        for noise in ("drop_history(2)", "noisy_profile(2)", "reorder_history")
    },
}
"""The claims that a model's fault breaks, by paper and model."""


def statuses(pytester: pytest.Pytester, paper: str, model: str) -> dict[str, str]:
    """The status of each claim that applies, by its test."""
    pytester.makepyfile(models=MODELS)
    pytester.syspathinsert()
    pytester.runpytest_inprocess(
        PAPERS / f"{paper}.py", f"--recsys-model=models:{model}", "--recsys-json=record.json", "--recsys-users=60",
        "-p", "no:cacheprovider", "-q",
    )  # fmt: skip
    record = record_of(pytester.path / "record.json")
    assert record["calls"]["failed"] == 0
    return {
        row["nodeid"].rpartition("::")[2].replace(f"models-{model}-", ""): row["status"]
        for row in record["results"]
        if row["status"] != "not-applicable"
    }


@pytest.mark.parametrize("paper", [each.stem for each in FILES])
def test_a_sound_model_keeps_every_claim(pytester: pytest.Pytester, paper: str) -> None:
    found = statuses(pytester, paper, "Sound")
    assert len(found) == {"biasrecbench": 6, "faireval": 9, "robustexplain": 3}[paper]
    assert set(found.values()) == {"holds"}


@pytest.mark.parametrize(("paper", "model"), FAULTS)
def test_a_model_with_the_fault_breaks_the_claims_about_it(
    pytester: pytest.Pytester,
    paper: str,
    model: str,
) -> None:
    found = statuses(pytester, paper, model)
    violated = {test for test, status in found.items() if status == "violated"}
    assert violated == FAULTS[paper, model]


@pytest.mark.parametrize("paper", ["faireval", "robustexplain"])
def test_noise_alone_breaks_none(pytester: pytest.Pytester, paper: str) -> None:
    found = statuses(pytester, paper, "Noisy")
    assert found
    assert set(found.values()) <= {"holds", "inconclusive"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_paper_takes_forty_lines_and_names_its_source(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    docstring, *_ = ast.parse(text).body
    code = text.splitlines()[docstring.end_lineno :]
    assert len([line for line in code if line.strip()]) <= 40
    told = ast.get_docstring(ast.parse(text)) or ""
    parts = ("The paper", "arXiv:", "What is encoded:", "What differs:", "looked up")
    assert [part for part in parts if part not in told] == []
    assert f"papers/{file.name}" in (PAPERS.parent / "README.md").read_text("utf-8")
