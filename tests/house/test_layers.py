"""Who may import whom, and what an import may cost."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "pytest_recsys_mt"
FOLDERS = {"relations", "oracles", "suites"}

# A layer imports itself and the layers it names, nothing else of ours. ARCHITECTURE.md says why.
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "redaction": set(),
    "requests": set(),
    "verdict": set(),
    "seeds": set(),
    "thresholds": set(),
    "answers": {"requests", "verdict"},
    "raised": {"errors", "redaction"},
    "patience": {"errors"},
    "contract": {"errors", "redaction", "requests"},
    "parameters": {"errors", "raised", "redaction"},
    "datasets": {"errors", "requests"},
    "instructions": set(),
    "relations": {"errors", "instructions", "requests"},
    "oracles": {"errors", "requests", "verdict", "answers"},
    "llm": {"errors", "instructions", "parameters", "redaction", "requests", "datasets"},
    "recommenders": {"errors", "parameters", "private", "raised", "redaction", "requests", "datasets", "llm"},
    "lrworld": {"answers", "datasets", "errors", "files", "llm", "recommenders", "requests", "seeds"},
    "limits": {"errors", "files", "private"},
    "options": set(),
    "gate": {"errors", "llm", "metamorphic", "oracles", "verdict"},
    "settings": {"errors", "gate", "limits", "options", "redaction"},
    "metamorphic": {"requests"},
    "collection": {"gate", "metamorphic"},
    "calls": {"errors", "requests"},
    "private": {"errors"},
    "database": {"errors"},
    "cache": {"errors", "calls", "database", "private"},
    "files": set(),
    "cache_files": {"cache", "calls", "errors", "files"},
    "batch_api": {
        "cache", "cache_files", "calls", "errors", "files", "llm", "redaction", "subject",
    },
    "commands": {"batch_api", "cache", "cache_files", "errors", "gate", "llm", "options", "report"},
    "subject": {
        "errors", "requests", "calls", "contract", "datasets", "llm", "patience", "raised", "redaction",
    },
    "failures": {"calls", "errors", "subject"},
    "remote": {"calls", "datasets", "errors", "llm", "redaction", "subject"},
    "tokens": {"calls", "requests", "subject"},
    "prices": {"errors", "recommenders"},
    "progress": set(),
    "cases": {"errors", "requests", "seeds", "settings", "datasets"},
    "execution": {
        "errors", "calls", "cache", "failures", "limits", "prices", "progress", "requests", "settings", "subject",
        "tokens",
    },
    "texts": {"errors", "execution", "requests", "subject"},
    "arena": {
        "answers", "errors", "failures", "llm", "oracles", "requests", "seeds", "texts", "verdict",
    },
    "elsewhere": {"calls", "requests", "settings", "subject"},
    "answering": {"elsewhere", "session", "subject"},
    "runner": {
        "answers", "calls", "cases", "datasets", "elsewhere", "errors", "execution", "metamorphic", "relations",
        "requests", "seeds", "settings", "subject", "texts", "verdict",
    },
    "strategies": {"datasets", "relations", "requests"},
    "shrinking": set(),
    "recsys": {
        "answers", "datasets", "errors", "metamorphic", "requests", "runner", "settings", "texts",
        "verdict",
    },
    "counterexample": {
        "calls", "cases", "datasets", "errors", "metamorphic", "recsys", "requests", "runner",
        "settings", "shrinking", "subject", "verdict",
    },
    "trial": {"counterexample", "errors", "llm", "metamorphic", "recsys", "redaction", "runner", "verdict"},
    "sampling": {"answers", "cases", "errors", "oracles", "settings"},
    "given": set(),
    "drift": {"answers", "calls", "errors", "llm", "oracles", "runner", "seeds"},
    "session": {
        "arena", "cache", "cases", "datasets", "drift", "elsewhere", "errors", "given", "execution", "limits", "parameters", "prices", "progress",
        "failures", "recommenders", "remote", "requests", "runner", "sampling", "seeds", "settings", "subject", "texts", "options",
    },
    "plan": {
        "calls", "metamorphic", "oracles", "prices", "recsys", "runner", "session", "subject",
        "tokens",
    },
    "planning": {
        "arena", "batch_api", "errors", "given", "metamorphic", "plan", "report", "runner", "session", "settings", "trial",
    },
    "checks": {
        "datasets", "errors", "gate", "llm", "prices", "recommenders", "redaction", "remote", "report", "session",
        "settings",
    },
    "report": {
        "collection", "counterexample", "drift", "errors", "execution", "files", "gate", "llm", "metamorphic", "oracles", "plan",
        "redaction", "requests", "session", "settings", "tokens", "trial", "verdict",
    },
    "reported": {"collection", "files"},
    "interruptions": set(),
    "stash": {"interruptions", "metamorphic", "progress", "report", "reported", "session", "settings", "trial"},
    "fixtures": {"arena", "errors", "given", "planning", "recsys", "session", "settings", "stash", "texts"},
    "plugin": {
        "checks", "collection", "errors", "fixtures", "interruptions", "limits", "metamorphic", "options", "planning",
        "progress", "recsys", "redaction", "report", "reported", "session", "settings", "stash", "trial",
    },
    "__init__": {"errors", "metamorphic", "requests", "thresholds", "verdict"},
}  # fmt: skip
PUBLIC = {"", "relations", "oracles", "arena", "lrworld"}


def modules() -> list[Path]:
    folders = [ROOT / PACKAGE, ROOT / "relations", ROOT / "oracles", ROOT / "suites"]
    return [
        path
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        if not any(part.is_symlink() for part in path.parents)
    ]


def layer_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0] if parts[0] in FOLDERS else parts[1]


def imported(path: Path) -> set[str]:
    """The layers of ours that a module imports, anywhere in it; the package itself is ''."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module]
            if node.module == PACKAGE:
                names = [f"{PACKAGE}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name == PACKAGE or name.startswith(f"{PACKAGE}."):
                found.add(name.split(".")[1] if "." in name else "")
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_keep_to_the_layers(path: Path) -> None:
    layer = layer_of(path)
    if layer == "suites":
        public = set(ast.literal_eval(_names_exported())) | PUBLIC
        assert imported(path) <= public, "suites use public names only"
    else:
        assert imported(path) <= LAYERS[layer] | {layer}


def _names_exported() -> str:
    tree = ast.parse((ROOT / PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.unparse(node.value)
    raise LookupError("__init__ has no __all__")


def test_no_layer_imports_one_that_imports_it() -> None:
    def below(layer: str, seen: tuple[str, ...] = ()) -> None:
        assert layer not in seen, f"{' -> '.join((*seen, layer))}"
        for other in LAYERS[layer]:
            below(other, (*seen, layer))

    for layer in LAYERS:
        below(layer)


HEAVY = ["numpy", "scipy", "pandas", "torch", "openai", "transformers", "hypothesis", "diskcache"]


def test_the_plugin_imports_nothing_heavy() -> None:
    code = (
        "import sys, pytest_recsys_mt, pytest_recsys_mt.plugin.hooks, pytest_recsys_mt.relations\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_pytest_run_without_recommender_tests_imports_nothing_heavy(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        f"""
        import sys

        def test_it():
            assert [name for name in {HEAVY[:6]} if name in sys.modules] == []
        """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_packages_that_are_built_are_the_folders_on_disk() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {path.parent for path in modules()}
    names = {
        ".".join(
            ((PACKAGE, *folder.relative_to(ROOT).parts))
            if folder.relative_to(ROOT).parts[0] in FOLDERS
            else folder.relative_to(ROOT).parts
        )
        for folder in folders
    }
    assert set(setuptools["packages"]) == names
    mapped = {name: ROOT / place for name, place in setuptools["package-dir"].items()}
    assert all(place.is_dir() for place in mapped.values())
    assert {name for name in names if name.split(".")[1:2] and name.split(".")[1] in FOLDERS} <= (
        mapped.keys()
    )


def test_type_checkers_find_the_folders_through_links() -> None:
    for name in FOLDERS:
        assert (ROOT / PACKAGE / name).resolve() == ROOT / name
