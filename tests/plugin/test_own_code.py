"""What goes wrong in a recommender of one's own is told so that one can mend it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_recsys_mt.relations import Transformation
from tests.plugin.conftest import ON_WORKERS_TOO, Run, record_of
from tests.support.metamorphic import UnnamedTransformation, name_of

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shift_ratings

@metamorphic(scale_ratings(2), shift_ratings(1))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.2)
"""

RAISING = """
class Raising:
    deterministic = True

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        secret = "not to be shown"
        return request.history.missing


class Keyed(Raising):
    def answer(self, request):
        return {}[request.user]


class Unfit(Raising):
    def fit(self, dataset, seed):
        raise RuntimeError("no memory")


class Cross:
    def judge(self, comparisons):
        return comparisons[0].missing
"""


@pytest.fixture
def raising(project: pytest.Pytester) -> pytest.Pytester:
    """A project whose recommenders raise."""
    project.makepyfile(TEST, shop=RAISING)
    return project


def test_a_traceback_stands_once_with_what_was_asked(
    run: Run,
    raising: pytest.Pytester,
) -> None:
    record, junit = raising.path / "record.json", raising.path / "junit.xml"
    result = run(
        "--recsys-model=shop.py:Raising",
        "--recsys-shrink=200",
        f"--recsys-json={record}",
        f"--junitxml={junit}",
    )
    result.assert_outcomes(failed=2)
    text = result.stdout.str()
    assert text.count("return request.history.missing") == 1
    result.stdout.fnmatch_lines(
        [
            "-* recsys-mt: raised by shop.py:Raising -*",
            "asked for user '*', replicate *: k=10, * ratings, 20 candidates; 20 users failed with*",
            "Traceback (most recent call last):",
            '  File "shop.py", line *, in recommend',
            '  File "shop.py", line *, in answer',
            "    return request.history.missing",
            "AttributeError: 'tuple' object has no attribute 'missing'",
            "the smallest request found that raises it, for recommend([[]request[]]):",
            "request = Request(",
            "    history=(),",
            "    k=1,",
            "AttributeError: 'tuple' object has no attribute 'missing'",
            "its traceback stands below *::test_it[[]shop.py-Raising-*[]]",
        ],
    )
    assert "not to be shown" not in text
    assert "pytest_recsys_mt/calls/" not in text

    told = [row["traceback"] for row in record_of(record)["results"]]
    assert sum("return request.history.missing" in each for each in told) == 1
    assert sum("its traceback stands below" in each for each in told) == 1
    failures = [
        case.findtext("failure") or ""
        for case in ElementTree.parse(junit).iter("testcase")
    ]
    assert sum("return request.history.missing" in each for each in failures) == 1
    assert sum("its traceback stands below" in each for each in failures) == 1


def test_what_only_a_follow_up_raises_is_told_with_its_change(
    run: Run,
    project: pytest.Pytester,
) -> None:
    shop = """
    from pytest_recsys_mt import Recommendation

    class FiveStars:
        deterministic = True

        def recommend(self, requests):
            print("asked")
            return [self.answer(request) for request in requests]

        def answer(self, request):
            stars = [list("12345")[int(rating.value) - 1] for rating in request.history]
            return Recommendation(tuple(item.id for item in request.candidates[: request.k]))
    """
    project.makepyfile(TEST.replace(", shift_ratings(1)", ""), shop=shop)
    result = run(
        "--recsys-model=shop.py:FiveStars",
        "--recsys-shrink=200",
        "--recsys-users=10",
    )
    result.stdout.fnmatch_lines(
        [
            "IndexError: list index out of range",
            "this request is a follow-up; it differs from the user's own in:",
            "  history     - *",
            "              + *",
            "  scale       - 1 to 5",
            "              + 2 to 10",
            "the smallest request found that raises it*",
            "    history=(",
            "        Rating(Item('*', '*', *), *),",
            "    ),",
            "    scale=Scale(2, 10),",
        ],
    )
    none = run(
        "--recsys-model=shop.py:FiveStars",
        "--recsys-users=10",
        "--recsys-shrink=0",
    )
    none.stdout.fnmatch_lines(["  scale       - 1 to 5"])
    none.stdout.no_fnmatch_line("*the smallest request*")


def test_one_line_of_code_has_one_traceback_whatever_it_says(
    run: Run,
    raising: pytest.Pytester,
) -> None:
    text = run("--recsys-model=shop.py:Keyed").stdout.str()
    assert text.count("return {}[request.user]") == 1
    assert "20 users failed with this error" in text


def test_the_page_for_people_has_the_traceback(raising: pytest.Pytester) -> None:
    page = raising.path / "report.html"
    raising.runpytest_inprocess(
        "-p", "no:cacheprovider", "--recsys-users=20", "--recsys-model=shop.py:Raising",
        f"--recsys-html={page}",
    )  # fmt: skip
    text = page.read_text(encoding="utf-8")
    assert text.count("return request.history.missing") == 1
    assert text.count("its traceback stands below") == 1


def test_a_fit_that_raises_is_called_once_and_told_once(
    raising: pytest.Pytester,
) -> None:
    result = raising.runpytest_inprocess(
        "--recsys-model=shop.py:Unfit",
        "--recsys-users=20",
    )
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(
        [
            "fit() of shop.py:Unfit raised RuntimeError: no memory",
            "-* recsys-mt: raised by shop.py:Unfit -*",
            '  File "shop.py", line *, in fit',
        ],
    )
    text = result.stdout.str()
    assert text.count('raise RuntimeError("no memory")') == 1
    assert "fixtures.py" not in text


def test_a_judge_that_raises_is_told_alike(raising: pytest.Pytester) -> None:
    raising.makepyfile(
        """
        from pytest_recsys_mt.suites.arena import preferred

        def test_first(recsys_arena):
            assert preferred(recsys_arena)

        def test_second(recsys_arena):
            assert preferred(recsys_arena)
        """,
    )
    result = raising.runpytest_inprocess(
        "--recsys-judge=shop.py:Cross",
        "--recsys-users=20",
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*judge() of the judge shop.py:Cross raised AttributeError*",
            '  File "shop.py", line *',
        ],
    )
    assert result.stdout.str().count("return comparisons[0].missing") == 1


WRONG = {
    "Nothing": ("recommend", "pass", ["returned None; it returns a list with one Recommendation",
                                      "does it end without a return?"]),
    "Lazy": ("recommend", "yield Recommendation(())", ["returned <generator object", "list(...)"]),
    "Keyed": ("recommend", "return {r.user: Recommendation(()) for r in asked}",
              ["returned {'", "a list with one Recommendation for each request, in their order"]),
    "Said": ("recommend", "return 'Alien'", ["returned 'Alien'", "wrap the ids"]),
    "Ids": ("recommend", "return [item.id for item in asked[0].candidates]",
            ["returned 20 answers to 1 requests, ['", "Recommendation(tuple(ids))"]),
    "Lists": ("recommend", "return [['a', 'b'] for _ in asked]",
              ["returned ['a', 'b'] as an answer", "Recommendation(tuple(ids))"]),
    "Few": ("recommend", "return []", ["returned 0 answers to 1 requests, []"]),
    "NoItems": ("recommend", "return [Recommendation(items=None) for _ in asked]",
                ["TypeError: Recommendation(items) takes a sequence of item ids", "got None"]),
    "Numbers": ("recommend", "return [Recommendation((1, 2)) for _ in asked]",
                ["returned Recommendation(items=(1, 2)", "item ids are strings", "item.id"]),
    "Texts": ("complete", "return ['Alien' for _ in asked]",
              ["complete(prompts) returned 'Alien' as an answer", "one Completion for each prompt",
               "Completion(text)"]),
    "Silent": ("complete", "pass", ["complete(prompts) returned None"]),
    "Bytes": ("complete", "return [Completion(b'1. Alien') for _ in asked]",
              ["returned Completion(text=b'1. Alien'"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def reasons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of each wrong recommender, all of them in one run."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "shop.py").write_text(
        "from pytest_recsys_mt import Completion, Recommendation\n"
        + "".join(
            f"\nclass {name}:\n    deterministic = True\n    def {verb}(self, asked):\n        {body}\n"
            for name, (verb, body, _) in WRONG.items()
        ),
        encoding="utf-8",
    )
    (folder / "test_it.py").write_text(
        TEST.replace(", shift_ratings(1)", ""),
        encoding="utf-8",
    )
    run_here(
        folder,
        *(f"--recsys-model=shop.py:{name}" for name in WRONG),
        "--recsys-json=r.json",
    )
    rows = record_of(folder / "r.json")["results"]
    return {row["model"].removeprefix("shop.py:"): row["reason"] for row in rows}


def run_here(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A real pytest in a folder."""
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--recsys-users=20",
            *arguments,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_names_itself_the_contract_and_the_step(
    name: str,
    reasons: dict[str, str],
) -> None:
    for part in WRONG[name][2]:
        assert part in reasons[name]


BROKEN = {
    "neither": (
        "class Shop:\n    pass\n",
        ["neither recommend(requests) nor complete(prompts)"],
    ),
    "factory": (
        "def Shop():\n    return 1 / 0\n",
        ['  File "shop.py", line 2, in Shop', "    return 1 / 0", "ZeroDivisionError"],
    ),
    "syntax": (
        "class Shop:\n    def f(:\n",
        ['shop.py", line 2', "    def f(:", "SyntaxError"],
    ),
    "import": (
        "import not_installed_anywhere\n",
        ['  File "shop.py", line 1, in <module>', "import not_installed_anywhere"],
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_cannot_be_loaded_is_one_usage_error_with_its_traceback(
    kind: str,
    project: pytest.Pytester,
) -> None:
    text, says = BROKEN[kind]
    project.makepyfile(TEST, shop=text)
    result = project.runpytest_inprocess("--recsys-model=shop.py:Shop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    error = result.stderr.str()
    assert error.count("ERROR") == 1
    assert error.count("Traceback") <= 1
    assert "importlib" not in error
    assert "pytest_recsys_mt/" not in error
    for part in says:
        assert part in error


def test_a_file_without_a_name_is_no_model_of_openai(project: pytest.Pytester) -> None:
    project.makepyfile(TEST, shop="")
    result = project.runpytest_inprocess("--recsys-model=shop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *'shop.py'*'shop.py:NAME'*openai:shop*"])


@pytest.mark.parametrize(
    ("how", "data", "says"),
    [
        ("ini", "bad.csv", "'bad.csv', line 2: rating is 'x', not a number"),
        ("option", "netflix", "dataset 'netflix' is not downloaded for you"),
    ],
)
def test_data_that_cannot_be_had_are_one_usage_error(
    run: Run,
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    data: str,
    says: str,
) -> None:
    monkeypatch.setenv("RECSYS_MT_DATA", str(project.path / "none"))
    project.makepyfile(TEST)
    (project.path / "bad.csv").write_text("user,item,rating,timestamp\na,b,x,1\n")
    if how == "ini":
        project.makeini(f"[pytest]\nrecsys_data = {data}\n")
    for more in ([], ["--recsys-plan"]):
        result = run(*([f"--recsys-data={data}"] if how == "option" else []), *more)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        printed = result.stdout.str() + result.stderr.str()
        assert printed.count(says) == 1
        assert "Traceback" not in printed
    project.makepyfile("def test_it(): pass")
    if how == "ini":
        run().assert_outcomes(passed=1)


@ON_WORKERS_TOO
def test_a_model_of_the_ini_file_that_cannot_be_had_is_one_usage_error(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(TEST)
    project.makeini("[pytest]\nrecsys_model = toys.py:Missing\n")
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    printed = result.stdout.str() + result.stderr.str()
    assert printed.count("has no 'Missing'") == 1


def test_a_factory_in_place_of_a_transformation_says_what_to_write(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        TEST.replace("scale_ratings(2), shift_ratings(1)", "scale_ratings"),
    )
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: *call it: @metamorphic(scale_ratings(factor))*"],
    )


@pytest.mark.parametrize(
    "returned",
    ["Transformation", Transformation],
    ids=["text", "class"],
)
def test_a_factory_is_known_by_its_annotation_as_text_or_evaluated(
    returned: object,
) -> None:
    def mine(n: int) -> None: ...

    mine.__annotations__["return"] = returned
    with pytest.raises(UnnamedTransformation, match=r"@metamorphic\(mine\(n\)\)"):
        name_of(mine)
