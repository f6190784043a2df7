"""Who may import whom, and what an import may cost."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "pytest_recsys_mt"
FOLDERS = {"relations", "oracles", "suites"}

# A room (a package, or a module at the root of ours) imports itself and the rooms it
# names, nothing else of ours. ARCHITECTURE.md says why.
ROOMS: dict[str, set[str]] = {
    "extensions": {"safety", "verdict"},
    "former_names": set(),
    "safety": set(),
    "requests": {"safety"},
    "verdict": {"requests", "safety"},
    "datasets": {"requests", "safety"},
    "metamorphic": {"requests"},
    "llm": {"datasets", "requests", "safety"},
    "relations": {"datasets", "llm", "requests", "safety"},
    "__init__": {"former_names", "metamorphic", "requests", "safety", "verdict"},
    "oracles": {"requests", "safety", "verdict"},
    "strategies": {"datasets", "relations", "requests"},
    "gate": {"oracles", "safety", "verdict"},
    "recommenders": {"datasets", "extensions", "llm", "requests", "safety"},
    "calls": {"datasets", "llm", "recommenders", "requests", "safety", "verdict"},
    "engine": {
        "calls", "datasets", "extensions", "gate", "llm", "metamorphic", "oracles", "recommenders", "relations",
        "requests", "safety", "verdict",
    },
    "report": {"calls", "engine", "extensions", "gate", "metamorphic", "oracles", "requests", "safety", "verdict"},
    "faults": {
        "calls", "datasets", "engine", "extensions", "gate", "oracles", "recommenders", "relations", "report", "requests",
        "safety",
    },
    "parity": {"datasets", "oracles", "relations", "report", "requests", "safety", "verdict"},
    "cli": {"calls", "datasets", "extensions", "gate", "llm", "recommenders", "report", "requests", "safety"},
    "plugin": {
        "calls", "datasets", "engine", "extensions", "gate", "llm", "metamorphic", "recommenders", "report", "requests",
        "safety", "verdict",
    },
}  # fmt: skip

# What the code of a suite that has some imports beside itself and public names. Its
# tests import public names only, and no room imports a suite.
SUITES: dict[str, set[str]] = {
    "arena": {"calls", "engine", "extensions", "gate", "llm", "oracles", "report", "requests", "safety", "verdict"},
    "lrworld": {"datasets", "extensions", "llm", "recommenders", "requests", "safety", "verdict"},
}  # fmt: skip

# The rooms inside a large one, likewise; what stands beside them (promises, prompts)
# may import them all.
INNER: dict[str, set[str]] = {
    "llm.api": set(),
    "llm.prompt_texts": set(),
    "llm.local": {"llm.reading"},
    "llm.reading": set(),
    "oracles.arrays": set(),
    "oracles.pins": set(),
    "oracles.arguments": {"oracles.arrays"},
    "oracles.similarities": {"oracles.arrays"},
    "oracles.scores": {"oracles.arguments", "oracles.arrays", "oracles.similarities"},
    "oracles.aggregates": {"oracles.arguments", "oracles.arrays", "oracles.scores"},
    "oracles.statistics": {"oracles.arguments", "oracles.arrays", "oracles.scores"},
    "oracles.judging": {
        "oracles.aggregates", "oracles.arguments", "oracles.arrays", "oracles.scores",
        "oracles.similarities", "oracles.statistics",
    },
}  # fmt: skip
AT_THE_ROOT = 3
"""Modules that the root of the package has at the most."""
MOST_ROOMS = 21
MOST_ARROWS = 100
PUBLIC = {"", "relations", "oracles"}


def modules() -> list[Path]:
    folders = [ROOT / PACKAGE, ROOT / "relations", ROOT / "oracles", ROOT / "suites"]
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        if not any(part.is_symlink() for part in path.parents)
    ]


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0] if parts[0] in FOLDERS else parts[1]


def dotted(path: Path) -> str:
    """A module as it is named below the package: ``oracles.scores.metrics``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts if parts[0] in FOLDERS else parts[1:])


def imported(path: Path) -> set[str]:
    """What a module imports of ours, anywhere in it,
    named below the package, which is ''.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name == PACKAGE or name.startswith(f"{PACKAGE}."):
                found.add(name.partition(".")[2])
    return found


def inner_room_of(name: str) -> str:
    return ".".join(name.split(".")[:2])


def test_imports_keep_to_the_rooms() -> None:
    public = set(ast.literal_eval(_names_exported())) | PUBLIC
    for path in modules():
        room, names = room_of(path), imported(path)
        suite = path.parent.name
        if room == "suites":
            # A suite knows no other one; its own modules are no room of the core.
            names = {
                name for name in names if not f"{name}.".startswith(f"suites.{suite}.")
            }
        rooms = {name.split(".")[0] for name in names}
        is_code_of_suite = room == "suites" and not path.stem.startswith("test_")
        if is_code_of_suite:
            assert rooms <= SUITES.get(suite, set()) | public, path
        else:
            assert rooms <= (public if room == "suites" else ROOMS[room] | {room}), path
        inner = inner_room_of(dotted(path))
        if inner in INNER:
            others = {
                inner_room_of(name) for name in names if name.split(".")[0] == room
            }
            assert others <= INNER[inner] | {inner}, path


def test_the_rooms_and_their_arrows_are_few() -> None:
    assert len(ROOMS) <= MOST_ROOMS
    assert sum(map(len, ROOMS.values())) <= MOST_ARROWS


def test_the_root_holds_few_modules() -> None:
    here = {path.stem for path in (ROOT / PACKAGE).glob("*.py")} - {"__init__"}
    assert len(here) <= AT_THE_ROOT, sorted(here)


def _names_exported() -> str:
    tree = ast.parse((ROOT / PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.unparse(node.value)
    raise LookupError("__init__ has no __all__")


@pytest.mark.parametrize("table", [ROOMS, INNER], ids=["rooms", "inner rooms"])
def test_no_room_imports_one_that_imports_it(table: dict[str, set[str]]) -> None:
    def below(room: str, seen: tuple[str, ...] = ()) -> None:
        assert room not in seen, f"{' -> '.join((*seen, room))}"
        for other in table[room]:
            below(other, (*seen, room))

    for room in table:
        below(room)


def imports_within_rooms() -> dict[str, dict[str, set[str]]]:
    """By room, the modules of that room that each of its modules imports, anywhere in
    it: at its top, in a function, or for types alone.
    """
    paths = {dotted(path).removesuffix(".__init__"): path for path in modules()}
    rooms: dict[str, dict[str, set[str]]] = {}
    for name, path in paths.items():
        within = set()
        for each in imported(path):
            # A name that is no module is one of the module before the last dot.
            module = each if each in paths else each.rpartition(".")[0]
            if module in paths and room_of(paths[module]) == room_of(path):
                within.add(module)
        rooms.setdefault(room_of(path), {})[name] = within
    return rooms


def circle_in(imports: Mapping[str, AbstractSet[str]]) -> str:
    """A circle of imports, as ``a -> b -> a``; empty if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        importers: list[str] = error.args[1]
        return " -> ".join(reversed(importers))
    return ""


def test_no_room_has_a_circle_of_imports() -> None:
    circles = [*filter(None, map(circle_in, imports_within_rooms().values()))]
    assert not circles, "\n".join(circles)


def test_a_circle_of_imports_is_named() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"d", "b"}, "d": set[str]()}
    assert circle_in(imports) in ("b -> c -> b", "c -> b -> c")
    assert circle_in({"a": {"a"}}) == "a -> a"
    assert circle_in({"a": {"b"}, "b": set()}) == ""


def test_every_kind_of_import_counts(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "from pytest_recsys_mt.engine.run import Run\n"
        "if TYPE_CHECKING:\n"
        "    from pytest_recsys_mt.engine import sides\n"
        "def late():\n"
        "    import pytest_recsys_mt.engine.runner\n",
    )
    assert imported(module) == {"engine.run.Run", "engine.sides", "engine.runner"}


HEAVY = [
    "numpy",
    "scipy",
    "pandas",
    "torch",
    "openai",
    "transformers",
    "hypothesis",
    "diskcache",
]


def test_the_plugin_and_a_list_of_kept_runs_import_nothing_heavy() -> None:
    code = (
        "import sys, pytest_recsys_mt, pytest_recsys_mt.plugin.hooks, pytest_recsys_mt.relations\n"
        "import pytest_recsys_mt.cli, pytest_recsys_mt.report.kept\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_the_process_of_ask_elsewhere_imports_no_oracle_and_no_reader_of_text() -> None:
    unneeded = {
        "pytest_recsys_mt.oracles",
        "pytest_recsys_mt.llm.recommender",
        "pytest",
    }
    code = (
        "import sys; from pytest_recsys_mt.engine import other_process; "
        f"print({unneeded} & {{*sys.modules}})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "set()\n"


def test_the_oracles_import_no_package_that_few_of_them_need() -> None:
    code = "import sys, pytest_recsys_mt.oracles; print({*sys.modules} & {'scipy.stats', 'scipy.optimize'})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "set()"


def test_a_pytest_run_without_recommender_tests_imports_nothing_heavy(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        f"""
        import sys

        def test_it():
            assert [name for name in {HEAVY[:6]} if name in sys.modules] == []
        """,
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_packages_that_are_built_are_the_folders_on_disk() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
        "setuptools"
    ]
    folders = {path.parent for path in modules()}
    names = {
        ".".join(
            ((PACKAGE, *folder.relative_to(ROOT).parts))
            if folder.relative_to(ROOT).parts[0] in FOLDERS
            else folder.relative_to(ROOT).parts,
        )
        for folder in folders
    }
    assert set(setuptools["packages"]) == names
    mapped = {name: ROOT / place for name, place in setuptools["package-dir"].items()}
    assert all(place.is_dir() for place in mapped.values())
    inside = {
        name for name in names if name.split(".")[1:2] and name.split(".")[1] in FOLDERS
    }
    assert all(name in mapped or name.rpartition(".")[0] in mapped for name in inside)


def test_what_is_no_module_is_built_too() -> None:
    """The wheel once lacked the tables of a paper."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    built = set(modules())
    for package, patterns in named["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")).resolve()
        built |= {
            path.resolve() for pattern in patterns for path in folder.glob(pattern)
        }
    listed = subprocess.check_output(
        ["git", "ls-files", PACKAGE, *FOLDERS],
        cwd=ROOT,
        text=True,
    )
    files = {
        (ROOT / line).resolve()
        for line in listed.splitlines()
        if (ROOT / line).is_file()
    }
    assert {
        path.relative_to(ROOT) for path in files - built if path.suffix != ".md"
    } == set()


def test_type_checkers_find_the_folders_through_links() -> None:
    for name in FOLDERS:
        assert (ROOT / PACKAGE / name).resolve() == ROOT / name


def test_no_module_looks_like_a_test_to_pytest() -> None:
    stems = [path.stem for path in modules() if room_of(path) != "suites"]
    assert not [
        stem for stem in stems if stem.startswith("test_") or stem.endswith("_test")
    ]


def test_the_modules_that_it_names_are_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    package = ROOT / "pytest_recsys_mt"
    rooms = {path.name for path in package.rglob("*") if path.is_dir()} | {
        "oracles",
        "judging",
    }
    named = [
        each
        for each in re.findall(r"`([a-z_]+(?:/[a-z_]+)+)`", text)
        if each.split("/")[0] in rooms
    ]
    assert len(named) > 50
    wanting = [
        each
        for each in named
        if not any(
            (place / each).is_dir() or (place / f"{each}.py").is_file()
            for place in (package, package / "oracles")
        )
    ]
    assert not wanting
