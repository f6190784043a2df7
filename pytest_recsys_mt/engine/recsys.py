"""The `recsys` fixture: a runner as a test sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.calls.call import CONTROL
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.engine.controls import (
    declaration,
    declared_unread,
    ignored,
    unread,
)
from pytest_recsys_mt.engine.named import NamedUsers
from pytest_recsys_mt.engine.refits import Change
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.settings import Effort
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.metamorphic import AnyTransformation, changes_training, name_of
from pytest_recsys_mt.relations.transformation import Generator, Transformation
from pytest_recsys_mt.requests import Promised, Recommendation, Request
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.safety.errors import (
    MissingAnswerError,
    NotApplicable,
    RelationError,
)
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.answers import Asked
from pytest_recsys_mt.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.texts import Texts


class Recsys:
    """A recommender under one design, as a test sees it: the `recsys` fixture.

    Attributes:
        runner: Sends the calls and keeps the answers.
        context: The error rates of the run, and the receiver of a test's own verdicts.
    """

    def __init__(
        self,
        make: Callable[[Design], Runner],
        design: Design,
        report: Callable[[Verdict], Verdict],
        label: str = "",
    ) -> None:
        self._make = make
        self.runner = make(design)
        self.context = replace(
            self.runner.context(report),
            unread=unread,
            ignored=ignored,
            declaration=declaration,
            unsure=partial(doubt, self.runner),
            named=NamedUsers(self.runner),
        )
        self._replicates = self.runner.replicates
        self._source = Side(self.runner, self.context, label=label)
        self._runs = 0
        self._report = report

    @property
    def model(self) -> str:
        """Name of the recommender under test."""
        return self.runner.subject.name

    @property
    def deterministic(self) -> bool:
        """Whether the recommender declares that it always gives the same answer."""
        return self.runner.subject.deterministic

    @property
    def seeded(self) -> bool:
        """Whether the recommender declares that the same seed gives the same answer."""
        return self.runner.subject.seeded

    @property
    def reads_text(self) -> bool:
        """Whether instructions and prompt edits reach the recommender."""
        return self.runner.subject.reads_text

    @property
    def promises(self) -> frozenset[Promised]:
        """The further promises of the recommender:
        ``ratings``, ``recency``, ``order``, ``scale``.
        """
        return self.runner.subject.promises

    @property
    def reads_latest(self) -> int | None:
        """How many of a history's latest items the recommender declares to read at
        most; None without a limit.
        """
        return self.runner.subject.reads_latest

    @property
    def saves_calls(self) -> bool:
        """Whether each call is a request to an endpoint, and
        the effort of the run is not thorough.
        """
        return self.runner.saves_calls

    @property
    def fit_seconds(self) -> float:
        """How long the recommender's fit took, in seconds of
        the processor; 0 if it has none.
        """
        return self.runner.subject.fit_seconds

    @property
    def effort(self) -> Effort:
        """The effort of the run: ``quick``, ``standard`` or ``thorough``."""
        return self.runner.settings.effort

    @property
    def live(self) -> bool:
        """Whether it answers new questions; recorded answers
        cover their own questions only.
        """
        return self.runner.subject.live

    @property
    def fingerprint(self) -> str | None:
        """Digest that distinguishes versions of the
        recommender, if the recommender gives one.
        """
        return self.runner.subject.fingerprint

    @property
    def design(self) -> Design:
        """How requests are made."""
        return self.runner.design

    def run(self, *transformations: AnyTransformation) -> Side:
        """Ask every sampled user's request, after the given transformations in their
        order.

        Without a transformation these are the source answers, which all tests share.
        Calls are sent only when an oracle reads the answers.

        Raises:
            NotApplicable: If a relation does not apply to the recommender; see `lacks`.
        """
        names = tuple(map(name_of, transformations))
        if not transformations:
            return self._source
        for each in transformations:
            if lacking := self.lacks(each):
                raise NotApplicable(lacking)
        self._runs += 1
        retrained = [
            each
            for each in transformations
            if isinstance(each, Transformation) and changes_training(each)
        ]
        if len(retrained) > 1:
            raise RelationError(
                f"{' and '.join(names)} change the training data, and one change can be made at a time; "
                f"write one relation that makes both",
            )
        if retrained and not self.design.refits:
            raise RelationError(
                f"{name_of(retrained[0])} changes the training data, so its noise is the spread of fits "
                f"with other seeds; take both sides from recsys.using(refits=True)",
            )
        runner = self.runner
        if retrained:
            runner = self._make(
                replace(self.design, trained_on=Change.of(retrained[0])),
            )
        return Side(runner, self.context, transformations, self._runs)

    @property
    def unfit(self) -> str:
        """Why no relation on training data applies to the
        recommender; empty if one does.
        """
        return self.runner.subject.unfit

    def lacks(self, transformation: object) -> str:
        """Why a relation does not apply to the recommender; empty if it does."""
        needs: frozenset[str] = getattr(transformation, "needs", frozenset())
        if "text" in needs and not self.reads_text:
            return f"needs a text model, and {self.model} reads no text"
        if ("fit" in needs or self.design.refits) and self.unfit:
            return one_line(self.unfit)
        aspect = getattr(transformation, "aspect", None)
        changes = getattr(transformation, "promises_change", False)
        if changes and aspect in self.runner.subject.ignores:
            return declared_unread(self.model, aspect)
        promised = getattr(transformation, "promised", "")
        if promised and promised not in self.promises:
            return f"{self.model} does not claim to use {promised}; set promises = ({promised!r},) to test it"
        for unless in getattr(transformation, "unless", ()):
            if unless in self.promises:
                may = "stay the same" if changes else "change"
                return f"{self.model} claims to use {unless}, so its answer may {may}"
        return ""

    def rewind(self) -> None:
        """Begin again: the next side is numbered as the first one was."""
        self._runs = 0

    def ask(self, *requests: Request) -> list[Recommendation]:
        """Ask single requests, through the cache: equal requests are sent once for all
        tests.

        Args:
            *requests: Of any user, from any source; the answers are those of their
                `replicate`.

        Raises:
            RecommenderError: If a call failed; a missing answer is not an empty one.
        """
        return self.runner.answers(requests)

    def report(self, verdict: Verdict) -> Verdict:
        """Report a verdict that a test reached itself, as oracles report theirs: it is
        in the record, the gate, JUnit and the table, and fails the test unless it
        holds.

        Args:
            verdict: A `pytest_recsys_mt.Verdict`, with at least its status and the name
                of its promise (`oracle`).

        Returns:
            The verdict to assert.

        Raises:
            TypeError: If it is no verdict.
        """
        if not isinstance(verdict, Verdict):
            raise TypeError(
                f"recsys.report takes a Verdict, got {verdict!r}; write Verdict('holds', 'the name of the promise'), "
                f"or let an oracle such as judged make it",
            )
        return self.context.report(verdict)

    @property
    def dataset(self) -> Dataset:
        """The data of the run with held-out interactions, for a test's own questions."""
        return self.runner.dataset

    def option(self, name: str) -> Any:
        """The value of an option of the run or of a suite: ``option("alpha")`` is that
        of ``--recsys-alpha``.

        Raises:
            RecommenderError: If there is no such option.
        """
        return self.runner.settings.option(name)

    @property
    def seed(self) -> int:
        """Root of every random draw of the run."""
        return self.runner.settings.seed

    @property
    def texts(self) -> Texts:
        """The model under test, for prompts of your own:
        ``recsys.texts.complete(prompt)``.

        Raises:
            NotApplicable: If the model reads no text; outside a `try`, this skips the
                test.
        """
        return self.runner.texts("question")

    def using(self, **changes: Any) -> Recsys:
        """The same recommender under another design: ``recsys.using(k=5, history=30)``.

        Args:
            **changes: Fields of `pytest_recsys_mt.requests.design.Design`.

        Raises:
            TypeError: For an unknown field.
            ValueError: For an invalid value.
            NotApplicable: If the recommender cannot be fitted so; outside a `try`, this
                skips the test.
        """
        label = ", ".join(f"{name}={value}" for name, value in changes.items())
        design = replace(self.design, **changes)
        made = Recsys(self._make, design, self._report, label)
        if design.refits and made.unfit:
            raise NotApplicable(made.unfit)
        return made

    def like(self, design: Design, report: Callable[[Verdict], Verdict]) -> Recsys:
        """The same recommender for another test."""
        return Recsys(self._make, design, report)

    @property
    def is_current(self) -> bool:
        """Whether it repeats calls as often as its recommender needs by now."""
        return self._replicates == self.runner.replicates

    def __repr__(self) -> str:
        return f"<recsys: {self.model}>"


USERS = 20
"""Users whose replicates are compared."""
SALTED = 10
"""Users whose requests are sent with `SALT`."""
SALT = "\n\n[1]"
"""The end of a prompt that no cache knows."""


def doubt(runner: Runner) -> str:
    """Why the noise of a recommender is unknown although calls were repeated;
    empty if it is known.

    A recommender in this process gets each call afresh, so its equal replicates are its
    answers. One behind a network, or that reads text, gets the calls again with `SALT`
    behind its prompt: if that changes no answer, there is no noise that a cache could
    hide.
    """
    subject = runner.subject
    if (
        runner.deterministic
        or runner.replicates < 2
        or not (subject.live and subject.waits)
    ):
        return ""
    if runner.settings.plan:
        if runner.unvaried is None and subject.reads_text:
            runner.plan_again(SALTED * runner.replicates)
        runner.unvaried = ""
    if runner.unvaried is None:
        runner.unvaried = _doubt(runner)
    return runner.unvaried


def _doubt(runner: Runner) -> str:
    context = replace(runner.context(), family=1, ask_everybody=False)
    source = Side(runner, context, purpose=CONTROL).sample(USERS).asked
    if any(len({answer.items for answer in asked.answers}) > 1 for asked in source):
        return ""
    name = runner.subject.name
    text = (
        f"all answers of {name} to one request are equal, though it does not say that it is deterministic: a cache "
        f"before it, or a server that ignores the seed"
    )
    if runner.subject.reads_text:
        changed = _changed_by_salt(runner, source)
        if changed == 0:
            return ""
        if changed:
            text += f"; with {SALT.strip()!r} behind the prompt {changed:.0%} of the answers are others"
    note = (
        f"{text}. So its noise is unknown, and no change of its answers is called a violation. Turn the cache off, or "
        f"declare it: deterministic=true in its spec, or the attribute of your class"
    )
    if note not in runner.executor.notes:
        runner.executor.notes.append(note)
    return f"the noise of {name} is unknown, since all its answers to one request are equal; see the note of the run"


def _changed_by_salt(runner: Runner, source: Sequence[Asked]) -> float | None:
    """The share of users whose answer another end of the
    prompt changes; None if they cannot be sent.
    """

    def salted(request: Request, rng: Generator) -> Request:
        return request.replace(edits=(*request.edits, _salt))

    context = runner.context()
    try:
        found = Side(runner, context, (salted,), purpose=CONTROL).sample(SALTED).asked
    except MissingAnswerError:
        return None
    before = {asked.user: asked.answers[0].items for asked in source}
    both = [asked for asked in found if asked.user in before]
    changed = [before[asked.user] != asked.answers[0].items for asked in both]
    return sum(changed) / len(changed) if changed else None


def _salt(text: str) -> str:
    return text + SALT
