"""The pages of `docs/papers` are what their commands print,
and their formulas those of the papers.
"""

import subprocess
import sys

import pytest

from benchmarks.papers import PAGES, PAPERS, ROOT, page


@pytest.mark.slow  # whole protocols of papers: a minute each
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", PAPERS)
def test_a_page_is_what_its_commands_print(name: str) -> None:
    assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == page(name)


@pytest.mark.slow  # the protocols of four papers, with five recommenders: a minute
def test_the_formulas_are_those_of_the_papers() -> None:
    command = [sys.executable, "-m", "benchmarks.formulas"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    assert {line[0] for line in lines} == {"| 001", "| 002", "| 004", "| LRWorld"}
    told = {line[1].strip("`") for line in lines if float(line[3]) < float(line[4])}
    assert min(int(line[2]) for line in lines if "rank_corr" not in line[1]) >= 3
    assert {
        "hallucination@5",
        "cand_dif:hit@5",
        "rbo",
        "unknown_title",
        "missed_rate",
    } <= told
