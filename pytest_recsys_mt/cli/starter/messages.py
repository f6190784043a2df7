"""The output of ``recsys-mt init``: the written files, the
subject of the tests, and the next commands.
"""

import os
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

from pytest_recsys_mt.cli.starter import Start
from pytest_recsys_mt.cli.starter.written import SECONDS, TESTS, options_of

__all__ = ["lines"]


def lines(
    start: Start,
    folder: Path,
    named: str | None,
    kept: str | None = None,
) -> Iterator[str]:
    """The lines to print.

    Args:
        start: What was written.
        folder: Where.
        named: The recommender as the user named it; None where the user named none.
        kept: Why the one test of the template stays; empty if tests were written in its
            place, None if none were wanted.
    """
    yield from (f"wrote {folder / name}" for name in start.files)
    yield ""
    yield from _wrapped(_tested(start, folder, named))
    configuration = start.configuration
    if configuration and start.needed:
        text = (
            f"{configuration.file} configures pytest already, so add these lines to its table, or keep "
            f"them in the command."
        )
        if configuration.models and "recsys_model" in start.needed:
            text += (
                f" It names {' and '.join(map(repr, configuration.models))} as recsys_model now, and a plain pytest "
                f"tests that: replace this line."
            )
        yield from ("", *_wrapped(text), "")
        yield from (f"    {line}" for line in configuration.lines(start.needed))
    before = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
    if start.variable:
        needed = (
            "" if os.environ.get("OPENAI_BASE_URL") else f"set {start.variable}, and "
        )
        yield from (
            f"\n{needed}see how many calls a run makes and what they cost:\n",
            f"    {before}{start.command} --recsys-plan",
        )
    yield from ("", *_wrapped(_on_tests(start, kept)))
    yield f"\nrun the tests:\n\n    {before}{start.command}"


def _on_tests(start: Start, kept: str | None) -> str:
    """How the tests came about, or what writes them."""
    command = shlex.join(["recsys-mt", "write", *options_of(start)])
    if kept == "":
        return (
            f"{TESTS} holds tests that were written for this recommender, chosen by the faults that {SECONDS:.0f} s allow; "
            f"{command} plants more, and --explain=FILE says how they are chosen."
        )
    why = f" ({kept})" if kept else ""
    return f"{TESTS} holds one test as an example{why}; {command} > test_written.py has the tests written that find most."


def _tested(start: Start, folder: Path, named: str | None) -> str:
    kind = ", a chat model behind OpenAI's interface," if start.variable else ""
    text = f"The tests ask {start.spec}{kind} about the data {start.data}."
    if named is None:
        where = start.configuration.file if start.configuration else "pytest.ini"
        return (
            f"{text} It is one of this package's own. To test your own, name it in {where}, as "
            f"recsys_model = shop.py:Shop for the class Shop in shop.py."
        )
    if named != start.spec:
        return f"{text} Its path is written as seen from {folder}, where the tests run."
    return text


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 80, break_long_words=False, break_on_hyphens=False)
