"""Write the pages of the documentation that are made from the code, into docs/reference.

    python scripts/docs_pages.py

`scripts/docs` does this before it builds the site. The pages are every relation with what it promises and an
example request before and after, every oracle with its docstring, every option, every built-in
recommender, the adapters to libraries, every format of data, and SECURITY.md.
"""

import difflib
import inspect
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_recsys_mt import oracles, relations
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.loading import formats
from pytest_recsys_mt.design import Design
from pytest_recsys_mt.engine.cases import Split
from pytest_recsys_mt.engine.settings import OPTIONS
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.llm.prompts import template
from pytest_recsys_mt.recommenders import NAMES, resolve
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.relations.transformation import usual_of
from pytest_recsys_mt.report.relation_list import needs_of
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.seeds import generator

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
SECTION = re.compile(r"^(Promise|Source|Example|Args|Returns|Yields|Raises|Attributes|Note):$")
MOST_LINES = 40
BAR = r"\|"  # in a cell of a table


def main() -> None:
    """Write each page, and nothing else, into the folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    return {
        "relations.md": "\n".join(relations_page()),
        "oracles.md": "\n".join(oracles_page()),
        "options.md": "\n".join(options_page()),
        "built-in.md": "\n".join(built_in_page()),
        "adapters.md": "\n".join(adapters_page()),
        "formats.md": "\n".join(formats_page()),
        "security.md": (ROOT / "SECURITY.md").read_text(encoding="utf-8"),
    }


def relations_page() -> Iterator[str]:
    """Every public relation."""
    yield "# Relations\n"
    yield (
        "Each changes a request, or the data that a recommender is fitted to, in a way whose effect on the "
        "answer is known. The examples are of one "
        "user of the embedded data with five ratings, six candidates and k = 3, as the prompt "
        "shows them; recommenders that read no text get the same request as data.\n"
    )
    for name in relations.__all__:
        if name == "Transformation":
            continue
        found = getattr(relations, name)
        made = usual_of(found)[0]
        module = sys.modules[f"pytest_recsys_mt.relations.{name}"]
        documented = module if isinstance(found, Transformation) else found
        yield f"## {name}\n"
        yield f"*{made.promise}* Needs {needs_of(made)}.\n"
        yield from described(documented)
        yield f"`{made.name}` makes of the example:\n"
        yield f"```diff\n{difference(made)}\n```\n"


def oracles_page() -> Iterator[str]:
    """Every public oracle and metric."""
    yield "# Oracles\n"
    yield "What judges answers, and the similarities and metrics that they judge by.\n"
    for name in oracles.__all__:
        found = getattr(oracles, name)
        if inspect.isroutine(found) or inspect.isclass(found):  # and no alias of a type
            yield f"## {name}\n"
            yield f"```python\n{name}{_signature(found)}\n```\n"
            yield from described(found)


def options_page() -> Iterator[str]:
    """Every option."""
    yield "# Options\n"
    yield "| command line | ini file | |\n|---|---|---|"
    for option in OPTIONS:
        typed = f"{option.switch}={option.metavar}" if option.metavar else option.switch
        places = (typed * option.on_command_line, option.dest * option.in_ini)
        shown_at = (f"`{place}`" if place else "–" for place in places)
        yield f"| {' | '.join(text.replace('|', BAR) for text in (*shown_at, option.help))} |"


def built_in_page() -> Iterator[str]:
    """Every built-in recommender."""
    yield "# Parameters of the built-in recommenders\n"
    yield "| name | | parameters |\n|---|---|---|"
    for name in NAMES:
        kind = type(resolve(name))
        told = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
        given = [
            f"`{one.name}={one.default}`" for one in inspect.signature(kind).parameters.values()
        ]
        yield f"| `{name}` | {told} | {', '.join(given)} |"


def adapters_page() -> Iterator[str]:
    """The code of every adapter to a library."""
    yield "# Adapters\n"
    yield "The files of `examples/libraries`. [Models of the libraries](../libraries.md) says what they need.\n"
    for file in sorted((ROOT / "examples" / "libraries").glob("*.py")):
        yield f"## {file.name}\n\n```python\n{file.read_text(encoding='utf-8')}```\n"


def formats_page() -> Iterator[str]:
    """Every format of data in a folder."""
    yield "# Formats of data\n"
    yield "A folder for `--recsys-data` is known by its files. `|` stands between names of which one is enough.\n"
    yield "| format | files |\n|---|---|"
    for form in formats():
        yield f"| {form.name} | {', '.join(f'`{file}`' for file in form.files).replace('|', BAR)} |"


def described(found: object) -> Iterator[str]:
    """A docstring in Google's style as Markdown."""
    section, lines = "", list[str]()
    for line in (inspect.getdoc(found) or "").splitlines():
        if SECTION.match(line):
            yield from _section(section, lines)
            section, lines = line[:-1], []
        else:
            lines.append(line)
    yield from _section(section, lines)


def _section(name: str, lines: list[str]) -> Iterator[str]:
    text = inspect.cleandoc("\n".join(["", *lines])) if name else "\n".join(lines).strip()
    if not text:
        return
    fenced = r"(?m)^(>>> .*(?:\n.+)*)"  # a session, up to the next empty line
    text = text if name == "Example" else re.sub(fenced, r"```python\n\1\n```", text)
    if name == "Example":
        yield f"```python\n{text}\n```\n"
    elif name in ("Args", "Raises", "Attributes"):
        yield f"**{name}**\n"
        for entry in re.split(r"\n(?=\S)", text):
            key, _, told = " ".join(entry.split()).partition(": ")
            yield f"* `{key}`: {told}"
        yield ""
    else:
        told = re.sub(r"(?m)::$", ":", text)
        yield f"**{name}**: {told}\n" if name else f"{told}\n"


def _signature(found: Callable[..., Any]) -> str:
    return str(inspect.signature(found)).replace("'", "")


@lru_cache(maxsize=1)
def _example() -> tuple[Request, World]:
    split = Split(load("mini"), 0)
    cases = split.cases(Design(users=20, history=5, candidates=6, k=3))
    return cases[0].request, split.world(cases)


def difference(transformation: Transformation) -> str:
    """What a transformation changes of the example, as a diff of its prompt."""
    request, world = _example()
    draw = generator(0, request.user, transformation.name)
    try:
        changed = transformation(request, draw, world)
    except NotApplicable as reason:
        return f"  not applicable to the example: {reason}"
    before, after = shown(request), shown(changed)
    lines = [line for line in difflib.ndiff(before, after) if not line.startswith("?")]
    if before == after:
        return f"  the same request{', after another training' if transformation.training else ' on both sides'}"
    return "\n".join(lines[:MOST_LINES])


def shown(request: Request) -> list[str]:
    """The user's name, k, and the prompt, in lines."""
    messages = template("person").render(request, None)
    text = "\n".join(message.content for message in messages)
    return [f"user {request.user}, k = {request.k}", *filter(None, text.splitlines())]


if __name__ == "__main__":
    main()
