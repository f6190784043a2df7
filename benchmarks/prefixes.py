"""How much of the prompts of a run a provider's prefix cache can serve, and how much
llama.cpp serves.

    python -m benchmarks.prefixes [--users 4] [--k 10]

For each template the prompts of a first look (`local_llm.planned`): for each user the
question and three changes of it, each twice. All counts are tokens of the model behind
the server.

* two users: what the prompts of two users have in common at their beginnings, on average.
* repeated: the share of all tokens that stand in a beginning which an earlier prompt
  has too. It does not depend on the order; a cache that forgets nothing serves it.
* served: the share that a real llama.cpp server did not compute, as it says itself.

The last row is `rank` with its fixed sentences first, which no run asks: what the order
would gain.
"""

import argparse
import json
import os
import re
import urllib.request
from collections.abc import Sequence
from itertools import combinations, takewhile
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.local_llm import planned
from pytest_recsys_mt.llm.api.openai_model import OpenAIModel
from pytest_recsys_mt.llm.prompts import NAMES
from pytest_recsys_mt.requests import Prompt
from tests.models.servers import llamacpp_server

INSTRUCTION_FIRST = """\
Recommend {k} items that suit this user, the best one first, one per line, without any explanation.
Choose only from the candidates below, written as they are there.
{instruction}
The user chose these items, oldest first: {chosen}
The candidates:{candidates}"""


def tokens(server: str, text: str) -> list[int]:
    """The tokens of a text, by the model of the server."""
    body = json.dumps({"content": text}).encode()
    request = urllib.request.Request(
        f"{server}/tokenize",
        body,
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        answer: dict[str, Any] = json.load(response)
    return list(answer["tokens"])


def processed(server: str) -> int:
    """The tokens of prompts that the server has computed so
    far; those from its cache not included.
    """
    with urllib.request.urlopen(f"{server}/metrics") as response:
        text = response.read().decode()
    found = re.search(r"^llamacpp:prompt_tokens_total (\S+)$", text, re.MULTILINE)
    assert found is not None, text
    return int(float(found[1]))


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the beginning that both have."""
    return sum(
        1
        for _ in takewhile(
            lambda pair: pair[0] == pair[1],
            zip(one, other, strict=False),
        )
    )


def repeated(prompts: Sequence[Sequence[int]]) -> float:
    """The share of tokens in a beginning that an earlier prompt has too."""
    nodes = {
        hash(tuple(prompt[:end]))
        for prompt in prompts
        for end in range(1, len(prompt) + 1)
    }
    return 1 - len(nodes) / sum(map(len, prompts))


def served(server: str, prompts: Sequence[Prompt]) -> float:
    """The share of all prompt tokens that the server did not compute when it was asked."""
    os.environ["OPENAI_BASE_URL"] = f"{server}/v1"
    before = processed(server)
    model = OpenAIModel(
        "smollm2",
        max_tokens=1,
        temperature=0,
        concurrency=1,
        timeout=600,
    )
    answers = model.complete(prompts)
    model.close()
    assert all(answer.error is None and answer.usage is not None for answer in answers)
    asked = sum(
        answer.usage.prompt_tokens for answer in answers if answer.usage is not None
    )
    return 1 - (processed(server) - before) / asked


def row(name: str, template: str, users: int, k: int) -> None:
    """Print the line of one template."""
    prompts = planned(users, k, template)
    with llamacpp_server(slots=1) as url:
        server = url.removesuffix("/v1")
        counted = [tokens(server, prompt.messages[0].content) for prompt in prompts]
        shared = mean(common(*pair) for pair in combinations(counted[:users], 2))
        print(
            f"| {name} | {mean(map(len, counted)):.0f} | {shared:.0f} | {repeated(counted):.2f} | "
            f"{served(server, prompts):.2f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--k", type=int, default=10)
    given = parser.parse_args()
    print(
        "| template | tokens | two users | repeated | served |\n|---|---:|---:|---:|---:|",
    )
    for name in NAMES:
        row(name, name, given.users, given.k)
    with TemporaryDirectory() as folder:
        path = Path(folder, "first.txt")
        path.write_text(INSTRUCTION_FIRST, encoding="utf-8")
        row("rank, instruction first", str(path), given.users, given.k)


if __name__ == "__main__":
    main()
