"""The promises of the metamorphic suite, judged in this
process: runner, oracles, no pytest.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_recsys_mt import oracles, relations, thresholds
from pytest_recsys_mt.engine.recsys import Recsys
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict

_SUITE = (
    Path(__file__).resolve().parents[1] / "suites" / "metamorphic" / "test_ratings.py"
)
_MARGIN = thresholds(str(_SUITE), "margin")
_CAP = thresholds(str(_SUITE), "cap")["loss"]
_STABILITY = thresholds(str(_SUITE), "stability")


@dataclass(frozen=True)
class Promise:
    """One promise of the metamorphic suite.

    Attributes:
        name: Of the transformation, or of the oracle where the request is not changed.
        judge: Makes the verdict.
        transformation: Applied to the requests of the follow-up; None to judge the
            source alone.
    """

    name: str
    judge: Callable[[Answers, Answers], Verdict]
    transformation: Transformation | None = None

    def verdict(self, recsys: Recsys) -> Verdict | None:
        """The verdict on a recommender; None for one that the relation is not about."""
        needs = self.transformation.needs if self.transformation else frozenset()
        if "text" in needs and not recsys.reads_text:
            return None
        source = recsys.run()
        return self.judge(
            source,
            recsys.run(self.transformation) if self.transformation else source,
        )


def _same_ranking(margin: str, *changes: Transformation) -> Iterable[Promise]:
    cap = None if margin == "one_item" else _CAP

    def judge(source: Answers, followup: Answers) -> Verdict:
        return oracles.same_ranking(source, followup, "rbo", _MARGIN[margin], cap=cap)

    return (Promise(change.name, judge, change) for change in changes)


def _pair(
    change: Transformation,
    judge: Callable[[Answers, Answers], Verdict],
) -> Promise:
    return Promise(change.name, judge, change)


def _one_side(oracle: Callable[[Answers, float], Verdict]) -> Promise:
    limit = _MARGIN["faulty_answer"]
    return Promise(oracle.__name__, lambda source, _: oracle(source, limit))


PROMISES: tuple[Promise, ...] = (
    *_same_ranking("ratings", relations.scale_ratings(2), relations.shift_ratings(1)),
    *_same_ranking(
        "wording",
        relations.add_spaces(),
        relations.random_words(),
        relations.change_case(),
        relations.typos(),
        relations.paraphrase_task,
    ),
    *_same_ranking(
        "order",
        relations.reorder_history,
        relations.duplicate_history,
        relations.rename_user,
        relations.shuffle_candidates,
        relations.extend_list(5),
    ),
    *_same_ranking("one_item", relations.noisy_profile(1), relations.drop_history(1)),
    _pair(
        relations.add_irrelevant_candidates(5),
        lambda a, b: oracles.same_order(a, b, margin=_MARGIN["order"], cap=_CAP),
    ),
    _pair(
        relations.title_injection,
        lambda a, b: oracles.not_lifted(a, b, _MARGIN["lift"]),
    ),
    _pair(
        relations.swap_history,
        lambda a, b: oracles.different_ranking(a, b, "rbo", _MARGIN["another_user"]),
    ),
    _pair(
        relations.raise_rating,
        lambda a, b: oracles.neighbours_not_lowered(a, b, _MARGIN["turned"]),
    ),
    _pair(
        relations.dislike_item,
        lambda a, b: oracles.neighbours_not_raised(a, b, _MARGIN["turned"]),
    ),
    _pair(
        relations.forget_item,
        lambda a, b: oracles.neighbours_lowered(a, b, _MARGIN["moved"]),
    ),
    _pair(
        relations.truncate_history(5),
        lambda a, b: oracles.monotone([b, a], "auc", _MARGIN["quality"]),
    ),
    _pair(
        relations.popularity_prompt("mitigate"),
        lambda a, b: oracles.decreases(a, b),
    ),
    _pair(
        relations.popularity_prompt("minimize"),
        lambda a, b: oracles.decreases(a, b),
    ),
    Promise(
        # At margin 0 no effect at all is on neither side: an ignored instruction needs
        # a margin.
        "popularity_prompt('minimize') by 0.2",
        lambda a, b: oracles.decreases(a, b, margin=0.2),
        relations.popularity_prompt("minimize"),
    ),
    _pair(
        relations.same_seed_same_answer,
        lambda a, b: oracles.same_answer(a, b, _MARGIN["repeat"]),
    ),
    _one_side(oracles.no_repeats),
    _one_side(oracles.only_candidates),
    _one_side(oracles.complete_list),
    Promise(
        "self_agreement",
        lambda source, _: oracles.self_agreement(
            source,
            "rbo",
            _STABILITY["self_agreement"],
        ),
    ),
)


def recsys_of(
    recommender: object,
    name: str,
    seed: int,
    users: int,
    cache: Path,
    *,
    controls: int | None = None,
) -> Recsys:
    """A recommender as a test of the suite would get it, on the embedded dataset.

    Args:
        recommender: Either protocol, not yet fitted.
        name: Of it.
        seed: Of the run: samples users and candidates, seeds transformations and noise.
        users: Most users to ask.
        cache: A folder that nothing durable is written to here.
        controls: Calls that may be sent to see what is read; None for the usual ones.
    """
    settings = replace(settings_of(Design(users=users), seed, cache), controls=controls)
    run = Run(settings, name="promises")
    return Recsys(
        lambda design: run.runner(recommender, name, design),
        settings.design,
        lambda verdict: verdict,
    )


def settings_of(design: Design, seed: int, cache: Path) -> Settings:
    """The settings of a run without any option but these.

    Args:
        design: How requests are made.
        seed: Of the run.
        cache: Folder of the answers.
    """
    return Settings(models=(), design=design, seed=seed, cache=cache)
