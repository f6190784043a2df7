"""No sentence of a paper stands in what the product says to a model by default.

What it says with ``--recsys-prompts=paper`` is quoted, in the files
``suites/*/paper_prompts.toml`` alone.
"""

import ast
import re
from pathlib import Path

import pytest

from tests.support.llm_prompt_texts import shipped

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT.parent / "shared" / "papers"
LENGTH = 8
"""So many words in a row are a sentence of somebody."""
SPOKEN = (
    "lrworld/question_texts.py",
    "arena/judge_prompts.py",
    "arena/language_judge.py",
)


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def rows(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[at : at + LENGTH]) for at in range(len(found) - LENGTH + 1)}


def spoken() -> dict[str, str]:
    """The texts that a model is told, by where they stand."""
    found = dict(shipped())
    for name in SPOKEN:
        tree = ast.parse((ROOT / "suites" / name).read_text())
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        found |= {f"{name}:{at}": text for at, text in enumerate(texts)}
    return found


@pytest.mark.skipif(not PAPERS.is_dir(), reason="the texts of the papers are not here")
def test_no_text_repeats_a_paper() -> None:
    printed = set().union(*(rows(path.read_text()) for path in PAPERS.glob("*.txt")))
    assert len(printed) > 10_000
    repeated = {
        name: " ".join(row)
        for name, text in spoken().items()
        for row in rows(text) & printed
    }
    assert repeated == {}


@pytest.mark.skipif(not PAPERS.is_dir(), reason="the texts of the papers are not here")
def test_a_repeated_sentence_is_found() -> None:
    printed = rows((PAPERS / "popularity-bias.txt").read_text())
    assert (
        rows(
            "- Do not recommend movies that the user has already watched. Those are the",
        )
        & printed
    )
