"""How the time to read an answer grows with its length: `python -m benchmarks.parser`.

Answers of 100 to 800 lines, all of titles that no catalogue has (the slowest case,
since every line is compared with every title), and one of 10 MB, of which only the
first part is read. Times are of this process's CPU, medians of rounds in turn, after
one that does not count; what counts is how they grow.
"""

import time
from statistics import median

from pytest_recsys_mt.datasets import load_mini
from pytest_recsys_mt.llm.reading.parser import parse
from pytest_recsys_mt.llm.reading.titles import TitleIndex
from pytest_recsys_mt.requests import Request, Scale

ROUNDS = 5
LINES = (100, 200, 400, 800)


def main() -> None:
    """Print CPU seconds by number of lines, and per line."""
    dataset = load_mini()
    index = TitleIndex(dataset.items.values())
    request = Request("u", (), Scale(1, 5), candidates=None, k=10)
    texts = {
        f"{count} lines": "\n".join(
            f"{i}. Unheard Story of {i} Lanterns" for i in range(1, count + 1)
        )
        for count in LINES
    } | {"10 MB": "1. Unheard Words" * 625_000}

    def seconds(text: str) -> float:
        start = time.process_time()
        parse(text, request, index)
        return time.process_time() - start

    rounds = [
        {name: seconds(text) for name, text in texts.items()} for _ in range(1 + ROUNDS)
    ]
    for name, text in texts.items():
        cost = median(found[name] for found in rounds[1:])
        lines = text.count("\n") + 1
        print(
            f"{name:>10}: {cost:.3f} s"
            + (f", {cost / lines * 1e6:.0f} us a line" if lines > 1 else ""),
        )


if __name__ == "__main__":
    main()
