"""Write the pages of the documentation that are made from the code, into
docs/reference.

    python scripts/docs_pages.py

The pages are committed: run this after a change of what they tell. `scripts/docs` does
it before it builds the site. The core installation is enough. The text is the same on
every machine and every Python.

The pages are every relation with what it promises and an example request before and
after, every oracle with its docstring, every option, every built-in recommender, the
adapters to libraries, every format of data, and SECURITY.md.
"""

import ast
import difflib
import inspect
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, get_origin

import pytest_recsys_mt
from pytest_recsys_mt import oracles, relations
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.loading import formats
from pytest_recsys_mt.engine.cases import Split
from pytest_recsys_mt.engine.settings import every_option
from pytest_recsys_mt.llm.prompts import template
from pytest_recsys_mt.recommenders.registry import BUILT_IN, TRAINED
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.relations.transformation import usual_of
from pytest_recsys_mt.report.relation_list import needs_of
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.requests.design import Design, generator
from pytest_recsys_mt.safety.errors import NotApplicable

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
SECTION = re.compile(
    r"^(Promise|Source|Example|Args|Returns|Yields|Raises|Attributes|Note):$",
)
MOST_LINES = 40
BAR = r"\|"  # in a cell of a table
WIDTH = 96
"""Characters of a signature on one line."""


def main() -> None:
    """Write each page, and nothing else, into the folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    made: dict[str, Iterable[str]] = {
        "relations.md": relations_page(),
        "oracles.md": oracles_page(),
        "options.md": options_page(),
        "built-in.md": built_in_page(),
        "adapters.md": adapters_page(),
        "formats.md": formats_page(),
        "security.md": [(ROOT / "SECURITY.md").read_text(encoding="utf-8")],
    }
    return {name: "\n".join(lines).rstrip("\n") + "\n" for name, lines in made.items()}


def relations_page() -> Iterator[str]:
    """Every public relation."""
    yield "# Relations\n"
    yield (
        "Each changes a request, or the data that a recommender is fitted to, in a way whose effect on the "
        "answer is known. The examples are of one "
        "user of the embedded data with five ratings, six candidates and k = 3, as the prompt "
        "shows them; recommenders that read no text get the same request as data. A call with an invalid argument raises "
        "a `RelationError`.\n"
    )
    yield (
        "`>>>` is typed into Python, and the next line is what it answers. `np` is numpy, `mini` is the embedded data, and "
        "`Item`, `Rating`, `Request`, `Scale` and `World` are those of `pytest_recsys_mt`.\n"
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
        if "\nSource:\n" not in (inspect.getdoc(documented) or ""):
            yield f"**Source**: {made.origin}\n"
        yield f"`{made.name}` makes of the example:\n"
        yield f"```diff\n{difference(made)}\n```\n"


def oracles_page() -> Iterator[str]:
    """Every public oracle and metric."""
    yield "# Oracles\n"
    yield "What judges answers, and the similarities and metrics that they judge by.\n"
    yield (
        "In the examples, `recsys` and `recsys_against` are the fixtures. `source` and `followup` are the two sides of "
        "a `@metamorphic` test. `replies` and `changed` are what `lrworld.ask` returns for questions and for "
        "changed questions. Oracles are imported from `pytest_recsys_mt.oracles`, and relations such as `swap_history` "
        "from `pytest_recsys_mt.relations`. `>>>` is typed into Python, and the next line is what it answers. "
        "A verdict `holds` if the mean is shown to be on the side of the margin that is promised, and is `violated` if it "
        "is shown to be on the other. Each function raises an `OracleError` if an argument is invalid.\n"
    )
    for name in oracles.__all__:
        found = getattr(oracles, name)
        if inspect.isroutine(found) or inspect.isclass(found):  # and no alias of a type
            yield f"## {name}\n"
            yield f"```python\n{_signature(name, found)}\n```\n"
            yield from described(found)


def options_page() -> Iterator[str]:
    """Every option."""
    yield "# Options\n"
    yield (
        "A setting without an option stands in the ini file, as `recsys_core = 5`; for one run, "
        "`-o recsys_core=5` takes its place. Paths are relative to the folder in which pytest starts, also those in the "
        "ini file.\n"
    )
    yield "| command line | ini file | |\n|---|---|---|"
    for option in every_option():
        switch = (
            f"{option.switch}={option.metavar}" if option.metavar else option.switch
        )
        places = (switch * (not option.settled), option.dest * option.in_ini)
        shown_at = (f"`{place}`" if place else "–" for place in places)
        yield f"| {' | '.join(text.replace('|', BAR) for text in (*shown_at, option.help))} |"


def built_in_page() -> Iterator[str]:
    """Every built-in recommender."""
    yield "# Parameters of the built-in recommenders\n"
    yield "| name | | parameters |\n|---|---|---|"
    for name, place in {**BUILT_IN, **TRAINED}.items():
        module, _, kind = f"{pytest_recsys_mt.__name__}.{place}".partition(":")
        told = " ".join(
            (ast.get_docstring(_class(module, kind)) or "")
            .partition("\n\n")[0]
            .split(),
        )
        given = [
            f"`{one}={default}`" for one, default in parameters(module, kind).items()
        ]
        yield f"| `{name}` | {told} | {', '.join(given)} |"


def parameters(module: str, kind: str) -> dict[str, object]:
    """The fields of a dataclass of the package, inherited ones too, with their
    defaults.

    The files are read, not imported: trained recommenders import PyTorch.
    """
    found: dict[str, object] = {}
    for base in _class(module, kind).bases:
        if isinstance(base, ast.Name) and (where := _home(module, base.id)):
            found |= parameters(where, base.id)
    for line in _class(module, kind).body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=field), value=ast.expr() as default):
                if not ast.unparse(line.annotation).startswith("ClassVar"):
                    found[field] = ast.literal_eval(default)
    return found


def _class(module: str, name: str) -> ast.ClassDef:
    (found,) = (
        each
        for each in _tree(module).body
        if isinstance(each, ast.ClassDef) and each.name == name
    )
    return found


def _home(module: str, name: str) -> str | None:
    """The module of the package that defines what `module`
    calls `name`; None if it is of elsewhere.
    """
    for line in _tree(module).body:
        match line:
            case ast.ClassDef(name=own) if own == name:
                return module
            case ast.ImportFrom(module=str(where), names=names):
                ours = where.partition(".")[0] == pytest_recsys_mt.__name__
                if ours and name in [each.name for each in names]:
                    return where
    return None


@cache
def _tree(module: str) -> ast.Module:
    package = Path(pytest_recsys_mt.__file__).parent
    file = package.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def adapters_page() -> Iterator[str]:
    """The code of every adapter to a library."""
    yield "# Adapters\n"
    yield "The files of `examples/libraries`. [Models of the libraries](../libraries.md) says what they need.\n"
    for file in sorted((ROOT / "examples" / "libraries").glob("*.py")):
        yield f"## {file.name}\n\n```python\n{file.read_text(encoding='utf-8')}```\n"


def formats_page() -> Iterator[str]:
    """Every format of data in a folder."""
    yield "# Formats of data\n"
    yield "A folder for `--recsys-data` is known by its files; the path of its file of interactions will do, too."
    yield "`|` stands between names of which one is enough.\n"
    yield "| format | files |\n|---|---|"
    for form in formats():
        yield f"| [{form.name}]({form.source}) | {', '.join(f'`{file}`' for file in form.files).replace('|', BAR)} |"


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
    text = (
        inspect.cleandoc("\n".join(["", *lines])) if name else "\n".join(lines).strip()
    )
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


def _signature(name: str, found: Callable[..., Any]) -> str:
    """A signature on one line, or with a line for each
    argument; names stand without their modules.
    """
    names = vars(sys.modules[found.__module__])
    called = inspect.signature(found)
    returned = (
        ""
        if inspect.isclass(found)
        else f" -> {_type(called.return_annotation, names)}"
    )
    entries = list[str]()
    for one in called.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in entries:
            entries.append("*")
        default = (
            "..."
            if inspect.isfunction(one.default)
            else repr(one.default).replace("'", '"')
        )
        entry = f"{one.name}: {_type(one.annotation, names)}"
        entries.append(entry if one.default is one.empty else f"{entry} = {default}")
    line = f"{name}({', '.join(entries)}){returned}"
    if len(line) <= WIDTH:
        return line
    return "\n".join(
        [f"{name}(", *(f"    {entry}," for entry in entries), f"){returned}"],
    )


def _type(annotation: object, names: Mapping[str, object]) -> str:
    """An annotation as it is read: without modules, and with
    the values of a `Literal` that has a name.
    """
    text = (
        annotation
        if isinstance(annotation, str)
        else inspect.formatannotation(annotation)
    )
    text = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z])", "", text)

    def spelt(word: re.Match[str]) -> str:
        meant = names.get(word[0])
        return _type(meant, names) if get_origin(meant) is Literal else word[0]

    return re.sub(r"\b[A-Z]\w+\b", spelt, text).replace("'", '"')


@lru_cache(maxsize=1)
def _examples() -> tuple[list[Request], World]:
    split = Split(load("mini"), 0)
    cases = split.cases(Design(users=20, history=5, candidates=6, k=3))
    return [case.request for case in cases], split.world(cases)


def difference(transformation: Transformation) -> str:
    """What a transformation changes of the example, as a diff of its prompt.

    The example is the first user to whom it is applicable.
    """
    requests, world = _examples()
    why = ""
    for request in requests:
        draw = generator(0, request.user, transformation.name)
        try:
            changed = transformation(request, draw, world)
        except NotApplicable as reason:
            why = why or f"  not applicable to the example: {reason}"
        else:
            return _difference(transformation, request, changed)
    return why


def _difference(
    transformation: Transformation,
    request: Request,
    changed: Request,
) -> str:
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
