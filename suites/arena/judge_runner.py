"""Sends questions to a judge, each once, and checks its answers."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pytest_recsys_mt.calls.failures import Failures
from pytest_recsys_mt.requests.abilities import declares, method_of
from pytest_recsys_mt.safety.errors import NotApplicable, RecommenderError
from pytest_recsys_mt.suites.arena.judging import (
    Appraisal,
    Comparison,
    Judge,
    Judgement,
    Showing,
)
from pytest_recsys_mt.verdict.verdict import Verdict

Kind = type[Judgement] | type[Appraisal]


class JudgeRunner:
    """Sends comparisons to a judge, each once for all tests.

    Args:
        planned: Counts questions that are not asked, of a run that is only planned;
            their answers are made up then.

    Attributes:
        deterministic: Whether the judge declares that it always judges alike.
        apart: Whether the judge declares that it judges each aspect separately.
        verdicts: Verdicts on the judge itself, by what was tested; see `questioning`.
    """

    def __init__(
        self,
        judge: Judge,
        name: str,
        failures: Failures | None = None,
        planned: Callable[[str, int], None] | None = None,
    ) -> None:
        self.name = name
        self._failures = failures or Failures()
        self._planned = planned
        self.deterministic = declares(judge, "deterministic")
        self.apart = declares(judge, "apart")
        self.verdicts: dict[Hashable, Verdict] = {}
        self.judge = judge
        self._known: dict[Hashable, Any] = {}

    def judged(self, comparisons: Sequence[Comparison]) -> list[Judgement]:
        """The judgements, one per comparison, in their order."""
        return self._ask(comparisons, self.judge.judge, Judgement, "judge")

    def rated(self, showings: Sequence[Showing]) -> list[Appraisal]:
        """The scores of single lists, one appraisal per list, in their order.

        Raises:
            NotApplicable: If the judge gives no scores.
            RecommenderError: If the judge raises, or violates its protocol.
        """
        rate = method_of(self.judge, "rate")
        if rate is None:
            raise NotApplicable(
                f"needs a judge with rate(showings), and {self.name} has none",
            )
        return self._ask(showings, rate, Appraisal, "rate")

    def __repr__(self) -> str:
        return f"<judge_runner of {self.name}>"

    def _ask(
        self,
        questions: Sequence[Any],
        ask: Callable[[Sequence[Any]], Any],
        kind: Kind,
        verb: str,
    ) -> list[Any]:
        waiting = [each for each in dict.fromkeys(questions) if each not in self._known]
        if waiting and self._planned is not None:
            self._planned(self.name, len(waiting))
            made_up = Judgement("tie") if kind is Judgement else Appraisal(0.5)
            self._known.update(dict.fromkeys(waiting, made_up))
        elif waiting:
            with self._failures.outside_calls(
                self.name,
                f"{verb}() of the judge {self.name}",
            ):
                answers = ask(waiting)
            if not hasattr(type(answers), "__len__"):
                raise RecommenderError(
                    f"{verb}() of the judge {self.name} returned {answers!r}; it returns a list with one "
                    f"{kind.__name__} for each question, in their order",
                )
            if len(answers) != len(waiting):
                raise RecommenderError(
                    f"the judge {self.name} gave {len(answers)} answers to {len(waiting)} questions; "
                    f"{verb}() returns one {kind.__name__} for each, in their order",
                )
            for question, answer in zip(waiting, answers, strict=True):
                self._check(answer, kind, verb)
                self._known[question] = answer
        return [self._known[each] for each in questions]

    def _check(self, answer: Any, kind: Kind, verb: str) -> None:
        if not isinstance(answer, kind):
            raise RecommenderError(
                f"the judge {self.name} gave {answer!r}; {verb}() returns {kind.__name__} objects",
            )
        if isinstance(answer, Judgement):
            said: list[Any] = [answer.overall, *answer.verdicts.values()]
            wrong = [each for each in said if each not in ("A", "B", "tie", None)]
            allowed = "'A', 'B', 'tie' or None"
        else:
            said = [answer.overall, *answer.scores.values()]
            wrong = [each for each in said if each is not None and not 0 <= each <= 1]
            allowed = "a number from 0 to 1 or None"
        if wrong:
            raise RecommenderError(
                f"the judge {self.name} gave {wrong[0]!r}, which is not {allowed}",
            )
