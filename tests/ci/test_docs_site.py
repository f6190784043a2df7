"""The documentation: pages made from the code, programs
that run, recipes that can be read.
"""

import importlib.util
import inspect
import re
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from pytest_recsys_mt import oracles, relations
from tests.extras import need
from tests.support.recommenders import BUILT_IN, TRAINED, resolve

ROOT = Path(__file__).resolve().parents[2]
ANEW = "python scripts/docs_pages.py"


@cache
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "docs_pages",
        ROOT / "scripts" / "docs_pages.py",
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def pages() -> dict[str, str]:
    made: dict[str, str] = generator().pages()
    return made


@cache
def sections(page: str) -> dict[str, str]:
    """The text under each heading of a generated page."""
    parts = re.split(r"(?m)^## (.+)$", pages()[page])
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_committed_pages_are_what_the_code_gives() -> None:
    folder = ROOT / "docs" / "reference"
    committed = {
        path.name: path.read_text(encoding="utf-8") for path in folder.glob("*")
    }
    old = [
        name
        for name in {**pages(), **committed}
        if committed.get(name) != pages().get(name)
    ]
    assert not old, (
        f"old in docs/reference: {', '.join(sorted(old))}; run: {ANEW}, and commit them"
    )


@pytest.mark.parametrize("name", [*BUILT_IN, *TRAINED])
def test_the_parameters_that_are_read_are_those_that_are_taken(name: str) -> None:
    if name in TRAINED:
        need("torch", "safetensors")
    module, _, kind = {**BUILT_IN, **TRAINED}[name].partition(":")
    taken = inspect.signature(type(resolve(name))).parameters.values()
    read = generator().parameters(f"pytest_recsys_mt.{module}", kind)
    assert list(read.items()) == [(one.name, one.default) for one in taken]


def test_every_relation_has_its_promise_its_need_and_an_example_before_and_after() -> (
    None
):
    named = set(relations.__all__) - {"Transformation"}
    assert set(sections("relations.md")) == named
    for name, text in sections("relations.md").items():
        assert re.search(r"^\*.+\* Needs .+\.$", text, re.MULTILINE), name
        (difference,) = re.findall(r"```diff\n(.*?)\n```", text, re.DOTALL)
        if name == "same_seed_same_answer" or (
            name.startswith("ask_") and name != "ask_k"
        ):
            assert difference == "  the same request on both sides"
        elif "Needs a recommender that is fitted" in text:
            what = (
                r"(?m)^[+-] |^  (the same request, after another|not applicable to the)"
            )
            assert re.search(what, difference), name
        else:
            assert re.search(r"(?m)^[+-] ", difference), name


def test_every_oracle_has_its_signature_and_what_it_takes() -> None:
    assert {name for name in oracles.__all__ if name[0].islower()} <= set(
        sections("oracles.md"),
    )
    for name, text in sections("oracles.md").items():
        assert text.strip().startswith(f"```python\n{name}("), name
        told = r"(?m)^\*\*(Args|Attributes|Returns)\*\*"
        if not re.search(told, text):
            others = re.findall(r"(?:those of|as in)\s+`(\w+)`", text)
            assert any(
                re.search(told, sections("oracles.md")[other]) for other in others
            ), name


def test_every_page_of_the_folder_is_in_the_navigation() -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    listed = re.findall(r"[\w./-]+\.md", str(site["project"]["nav"]))
    written = {
        path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")
    }
    assert sorted(listed) == sorted(written | {f"reference/{name}" for name in pages()})


def test_the_programs_of_your_own_run(pytester: pytest.Pytester) -> None:
    text = (ROOT / "docs" / "your-own.md").read_text(encoding="utf-8")
    shop, relation, score = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    pytester.makepyfile(shop=shop, test_mine=relation, test_score=score)
    result = pytester.runpytest_subprocess(
        "-p",
        "no:cacheprovider",
        "test_mine.py",
        "test_score.py",
        "--recsys-model=shop.py:Newest",
    )
    result.assert_outcomes(passed=2)


def test_the_policy_of_the_page_on_the_gate_is_one(tmp_path: Path) -> None:
    from tests.support.gate import load

    text = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    (policy,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "recsys.toml").write_text(policy, encoding="utf-8")
    found = load(tmp_path / "recsys.toml")
    assert (len(found.rules), len(found.known)) == (2, 1)
