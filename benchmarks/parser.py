"""How the time to read an answer grows with its length: `python benchmarks/parser.py`.

Answers of 100 to 800 lines, all of titles that no catalogue has (the slowest case, since every line is
compared with every title), and one of 10 MB, of which only the first part is read. Times are of this
process's CPU; what counts is the ratio.
"""

import time

from pytest_recsys_mt.datasets import load_mini
from pytest_recsys_mt.llm.reading.parser import parse
from pytest_recsys_mt.llm.reading.titles import TitleIndex
from pytest_recsys_mt.requests import Request, Scale


def main() -> None:
    """Print CPU seconds by number of lines, and per line."""
    dataset = load_mini()
    index = TitleIndex(dataset.items.values())
    request = Request("u", (), Scale(1, 5), candidates=None, k=10)

    def seconds(text: str) -> float:
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            parse(text, request, index)
            best = min(best, time.process_time() - start)
        return best

    for count in (100, 200, 400, 800):
        text = "\n".join(f"{i}. Unheard Story of {i} Lanterns" for i in range(1, count + 1))
        cost = seconds(text)
        print(f"{count:>5} lines: {cost:.3f} s, {cost / count * 1e6:.0f} us a line")
    print(f"10 MB: {seconds('1. Unheard Words' * 625_000):.3f} s")


if __name__ == "__main__":
    main()
