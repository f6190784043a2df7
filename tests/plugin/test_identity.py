"""Whatever asks has an identity of its own: answers of
one model are never given to another.
"""

from pathlib import Path

import pytest

from tests.plugin.conftest import ON_WORKERS_TOO, Run, record_of

MODELS = '''
"""Text models without a fingerprint, which differ in what they say alone."""
from pytest_recsys_mt import Completion


class Digit:
    deterministic = True

    def __init__(self, digit):
        self.digit = digit
        self.fingerprint = None

    def complete(self, prompts):
        return [Completion(self.digit) for _ in prompts]


def one():
    return Digit("1")


def two():
    return Digit("2")
'''

SAYS = """
from pytest_recsys_mt.requests import Message, Prompt

SAID = {"models.py:one": "1", "models.py:two": "2"}

def test_each_is_asked_itself(recsys):
    prompt = Prompt((Message("user", "Which of the two?"),))
    (completion,) = recsys.texts.complete(prompt)
    assert completion.text == SAID[recsys.model]
"""


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["one process", "two workers"])
def test_two_text_models_of_ones_own_share_no_answer(
    project: pytest.Pytester,
    workers: tuple[str, ...],
) -> None:
    project.makepyfile(models=MODELS)
    project.makepyfile(SAYS)
    path = project.path / "record.json"
    result = project.runpytest_inprocess(
        "--recsys-model=models.py:one",
        "--recsys-model=models.py:two",
        f"--recsys-json={path}",
        *workers,
    )
    result.assert_outcomes(passed=2)
    assert record_of(path)["calls"]["made"] == 2


@ON_WORKERS_TOO
def test_a_judge_of_ones_own_is_not_the_model_under_test(
    run: Run,
    project: pytest.Pytester,
) -> None:
    """Nor is the model that describes users: all three are asked the same prompt here."""
    project.makepyfile(models=MODELS)
    project.makepyfile(
        """
        import pytest
        from pytest_recsys_mt.requests import Message, Prompt

        def test_it(recsys, recsys_judge, recsys_profiler):
            prompt = Prompt((Message("user", "Who are you?"),))
            judge = recsys_judge.judge._texts
            said = [each.complete(prompt)[0].text for each in (recsys.texts, judge, recsys_profiler)]
            assert said == ["1", "2", "1"]
        """,
    )
    run(
        "--recsys-model=models.py:one",
        "--recsys-judge=models.py:two",
        "-orecsys_profiler=models:one",
    ).assert_outcomes(passed=1)


FIXTURE = """
import pytest
from pytest_recsys_mt import Recommendation, metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

class Mine:
    deterministic = True

    def recommend(self, requests):
        answers = []
        for request in requests:
            ids = sorted(item.id for item in request.candidates)
            if {faulty} and request.scale.high != 5:
                ids.reverse()
            answers.append(Recommendation(tuple(ids[: request.k])))
        return answers

@pytest.fixture
def recommender():
    return Mine()

@metamorphic(scale_ratings(2))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.2)
"""


def test_fixtures_whose_objects_have_one_name_share_no_answer(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_sound=FIXTURE.format(faulty=False),
        test_faulty=FIXTURE.format(faulty=True),
    )
    result = run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_faulty.py::*"])


def test_a_fixture_that_depends_on_parameters_gives_several(
    run: Run,
    project: pytest.Pytester,
) -> None:
    source = FIXTURE.format(faulty="self.faulty")
    source = source.replace(
        "def recommender():\n    return Mine()",
        (
            "def recommender(settings):\n    mine = Mine()\n    mine.faulty = settings['faulty']\n"
            "    return mine\n\n"
            "@pytest.fixture\ndef settings(faulty):\n    return {'faulty': faulty}\n\n"
            "@pytest.fixture(params=[False, True], ids=['sound', 'broken'])\n"
            "def faulty(request):\n    return request.param"
        ),
    )
    path = project.path / "record.json"
    project.makepyfile(source)
    result = run(f"--recsys-json={path}")
    result.assert_outcomes(passed=1, failed=1)
    assert record_of(path)["models"] == ["fixture:Mine[False]", "fixture:Mine[True]"]


@pytest.mark.parametrize("fingerprint", ["", 'fingerprint = "v1"'])
def test_what_a_fixture_gives_elsewhere_is_another_recommender(
    run: Run,
    project: pytest.Pytester,
    fingerprint: str,
) -> None:
    """One fixture for several files, of which each gets
    another object, or two of one name.
    """
    mine = FIXTURE.partition("@pytest.fixture")[0].format(faulty="self.faulty")
    mine = mine.replace(
        "deterministic = True",
        f"deterministic = True\n    {fingerprint}",
    )
    test = "".join(FIXTURE.partition("@metamorphic")[1:])
    given = "@pytest.fixture\ndef recommender(request):\n    mine = Mine()\n    mine.faulty = {}\n    return mine\n"
    if fingerprint:
        project.makepyfile(
            test_sound=mine + given.format(False) + test,
            test_faulty=mine + given.format(True) + test,
        )
    else:
        project.makeconftest(mine + given.format("request.module.FAULTY"))
        head = mine.partition("class Mine")[0]
        project.makepyfile(
            test_sound=f"{head}\nFAULTY = False\n{test}",
            test_faulty=f"{head}\nFAULTY = True\n{test}",
        )
    for order in (
        ("test_sound.py", "test_faulty.py"),
        ("test_faulty.py", "test_sound.py"),
    ):
        result = run(*order)
        result.assert_outcomes(passed=1, failed=1)
        result.stdout.fnmatch_lines(["FAILED test_faulty.py::*"])


def test_a_fingerprint_is_one_models_own(
    project: pytest.Pytester,
    tmp_path: Path,
) -> None:
    """Two models that both call themselves version 1 are two models, also on disk."""
    project.makepyfile(
        models=MODELS.replace("fingerprint = None", "fingerprint = 'version 1'"),
    )
    project.makepyfile(SAYS)
    options = ("--recsys-model=models.py:one", "--recsys-model=models.py:two")
    for cached in (0, 2):
        path = tmp_path / "record.json"
        result = project.runpytest_inprocess(*options, f"--recsys-json={path}")
        result.assert_outcomes(passed=2)
        assert record_of(path)["calls"]["cached"] == cached
