"""The ledger of a running test: its verdicts, and its outcome by them."""

from __future__ import annotations

import contextlib
import math
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_recsys_mt.engine.recsys import Recsys
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.engine.skips import (
    LONGEST,
    OUTCOMES,
    DoesNotApply,
    SkippedByVerdict,
)
from pytest_recsys_mt.metamorphic import AnyTransformation
from pytest_recsys_mt.oracles.judging.account import Account
from pytest_recsys_mt.safety.errors import (
    CacheError,
    LimitReachedError,
    MissingAnswerError,
    NotApplicable,
)
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.verdict import (
    FITS_NEEDED,
    NEEDED,
    NOT_ASKED,
    TOO_FEW,
    TOO_FEW_FITS,
    Status,
    Verdict,
)
from pytest_recsys_mt.verdict.wording import beyond

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.counterexample import Counterexample
    from pytest_recsys_mt.engine.source import Branches


def _beyond_its_limit(verdict: Verdict) -> str:
    """That the estimate of a verdict is beyond its limit, though too few users
    answered to claim it; or empty.
    """
    estimate, limit = verdict.estimate, verdict.margin
    if (
        estimate is None
        or limit is None
        or beyond(estimate, verdict.allowed, limit) <= 0
    ):
        return ""
    name = verdict.relation or verdict.oracle
    return (
        f"but the estimate of {name}, {estimate:.3f}, is beyond its limit of {limit:g}"
    )


@dataclass
class RunningTest:
    """The verdicts of one test.

    Attributes:
        transformation: That of a metamorphic test; None for a test that uses the runner
            itself.
        shipped: Whether it is a test of a shipped suite. A promise that its users are
            too few to show does not apply to them: its limit is ours, and with other
            users the test says something.
        recsys: The runner, once the fixture made it.
        reason: Why the test was skipped before any verdict.
        branches: In a plan, the truth of verdicts on made-up answers.
        ahead: Seconds for which this test sent calls that others wait for.
        beforehand: Seconds for which its body ran before the test.
        counterexamples: The smallest request that shows a violated verdict, by the
            verdict's place.
        unsearched: Whether a smaller one may be found on request of the user.
    """

    transformation: AnyTransformation | None
    skip_inconclusive: bool
    shipped: bool = False
    recsys: Recsys | None = None
    model: str = ""
    verdicts: list[Verdict] = field(default_factory=list)
    reason: str = ""
    sides: tuple[Side, Side] | None = None
    branches: Branches | None = None
    ahead: float = 0.0
    beforehand: float = 0.0
    counterexamples: dict[int, Counterexample] = field(default_factory=dict)
    unsearched: bool = False
    _found_wanting: list[tuple[Verdict, tuple[object, int]]] = field(
        default_factory=list,
    )
    _expected: dict[int, Status] = field(default_factory=dict)

    def both_sides(self) -> tuple[Side, Side]:
        """Source and follow-up of a metamorphic test."""
        assert self.recsys is not None
        assert self.transformation is not None
        if self.sides is None:
            self.sides = self.recsys.run(), self.recsys.run(self.transformation)
        return self.sides

    def report(self, verdict: Verdict) -> Verdict:
        """Record a verdict; the returned one notifies this
        test when an assertion on it fails.
        """
        if self.shipped and verdict.status == "inconclusive":
            for needed, reason in ((NEEDED, TOO_FEW), (FITS_NEEDED, TOO_FEW_FITS)):
                if needed in verdict.details:
                    text = "; ".join(filter(None, (reason, _beyond_its_limit(verdict))))
                    verdict = replace(verdict, status="not-applicable", reason=text)
        if not verdict.account and verdict.status != "not-applicable":
            verdict = replace(verdict, account=self._account_of(verdict))
        noted = replace(verdict, ledger=self)
        self.verdicts.append(noted)
        return noted

    def _account_of(self, verdict: Verdict) -> dict[str, int]:
        """The account of a verdict that its oracle made itself, from its numbers."""
        account = Account(
            drawn=0,
            not_applicable={"": verdict.not_applicable},
            answered=verdict.users,
            failed={"": verdict.errors},
        )
        known = account.asked + verdict.not_applicable
        sampled = known if self.recsys is None else len(self.recsys.runner.cases)
        drawn = max(known, sampled)
        return replace(account, drawn=drawn, not_asked=drawn - known).plain

    def asserted(
        self,
        verdict: Verdict,
        truth: bool,
        code: CodeType,
        line: int,
    ) -> bool:
        """Record that a verdict was false at a line of some
        code; in a plan, return the truth that lets it go on.
        """
        if self.branches is not None:
            return self.branches.says(code.co_filename, line)
        if not truth:
            self._found_wanting.append((verdict, (code, line)))
        return truth

    def expected(self, verdict: Verdict, status: Status) -> None:
        """Record that the test wants a status other than ``holds``."""
        self._expected[id(verdict)] = status

    def replaced(self, verdict: Verdict, other: Verdict) -> None:
        """Replace a verdict by `other`, and keep its expected status."""
        self.verdicts = [
            other if known is verdict else known for known in self.verdicts
        ]
        if id(verdict) in self._expected:
            self._expected[id(other)] = self._expected.pop(id(verdict))

    def expectation(self, verdict: Verdict) -> Status:
        """The status that the test wants of a verdict."""
        return self._expected.get(id(verdict), "holds")

    @property
    def to_shrink(self) -> list[int]:
        """The places of the unexpected violations of which a
        smallest example can be looked for.
        """
        unexpected = [
            place
            for place, verdict in enumerate(self.verdicts)
            if verdict.status == "violated" and self.expectation(verdict) != "violated"
        ]
        if not unexpected:
            return []
        from pytest_recsys_mt.engine.counterexample import may_shrink

        return [place for place in unexpected if may_shrink(self.verdicts[place])]

    def shrink(
        self,
        limit: int,
        seconds: float = math.inf,
        earlier: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Look for the smallest example of each unexpected violation; the seconds are
        for all of them.

        `earlier` are the rows of the test in an earlier record, whose smallest examples
        are tried first.
        """
        from pytest_recsys_mt.engine.counterexample import smallest

        if self.recsys is None:
            return
        until = time.monotonic() + seconds
        for place in self.to_shrink:
            left = until - time.monotonic()
            verdict = self.verdicts[place]
            about = verdict.oracle, verdict.relation
            shrunk = [
                row.get("shrunk")
                for row in earlier
                if (row.get("oracle"), row.get("relation")) == about
            ]
            found = smallest(
                self.recsys,
                verdict,
                limit,
                left,
                next(iter(shrunk), None),
            )
            if found is not None:
                self.counterexamples[place] = found

    def unasked(self) -> list[str]:
        """Keys of the planned calls that were not sent: the
        verdict was clear without them.
        """
        if self.sides is None:
            return []
        source, followup = self.sides
        try:
            return [call.key for _, call in source.calls(followup)]
        except (Exception, *OUTCOMES):  # noqa: BLE001 - a transformation's
            return []  # it has ended the test already

    def require_what_it_needs(self) -> None:
        """Skip a test whose relation does not apply to the
        recommender; see `Recsys.lacks`.
        """
        if self.recsys is not None and (
            lacking := self.recsys.lacks(self.transformation)
        ):
            self.reason = lacking
            raise DoesNotApply(lacking)

    @contextlib.contextmanager
    def held_to_verdicts(self) -> Iterator[None]:
        """Check the body of the test, which runs inside, against the verdicts it makes.

        It fails if it made none, or one that does not hold. It skips if no user has
        a request, or if an inconclusive verdict may skip.
        """
        __tracebackhide__ = True
        try:
            yield
        except (MissingAnswerError, CacheError) as error:
            # No code failed: the text names the missing part and the remedy.
            self.reason = f"{type(error).__name__}: {redact(one_line(str(error)))}"
            pytest.fail(f"{type(error).__name__}: {error}", pytrace=False)
        except NotApplicable as reason:
            self._fail_for(self._broken())
            self.reason = one_line(str(reason)[:LONGEST]) or "no reason given"
            raise DoesNotApply(self.reason) from None
        except LimitReachedError as limit:
            # The test requested single answers: there is nothing to judge, and nothing
            # failed.
            verdict = self.report(
                Verdict("inconclusive", "", reason=f"{NOT_ASKED}{limit}"),
            )
            self._fail_for(self._broken())
            if self.skip_inconclusive:
                _skip(verdict)
            self._fail_for([verdict])
        except pytest.skip.Exception:
            self._fail_for(self._broken())
            raise
        except AssertionError as error:
            self._skip_where_allowed(error)
            raise
        if not self.verdicts and self.transformation is not None:
            self.reason = "the test made no verdict"
            pytest.fail(
                "this metamorphic test made no verdict, so it tested nothing; call an oracle: "
                "assert same_ranking(source, followup)",
                pytrace=False,
            )
        wanting = [v for v in self.verdicts if v.status != self.expectation(v)]
        self._fail_for([v for v in wanting if v.status != "not-applicable"])
        if wanting and len(wanting) == len(self.verdicts):
            _skip(wanting[0])

    def _broken(self) -> list[Verdict]:
        broken = [v for v in self.verdicts if v.status in ("violated", "error")]
        return [v for v in broken if v.status != self.expectation(v)]

    def _skip_where_allowed(self, error: AssertionError) -> None:
        if self._broken():
            return
        *_, (frame, line) = traceback.walk_tb(error.__traceback__)
        allowed = {"not-applicable"} | (
            {"inconclusive"} if self.skip_inconclusive else set()
        )
        for verdict, where in self._found_wanting:
            if where == (frame.f_code, line) and verdict.status in allowed:
                _skip(verdict)

    def _fail_for(self, verdicts: Sequence[Verdict]) -> None:
        __tracebackhide__ = True
        if not verdicts:
            return
        lines = []
        for verdict in verdicts:
            wanted = self.expectation(verdict)
            why = (
                "not asserted, and a metamorphic test needs every verdict to hold"
                if wanted == "holds"
                else f"expected to be {wanted}; if it is fixed, remove expect_violated()"
            )
            lines.append(f"{verdict.summary} ({why})")
        pytest.fail("\n".join(lines), pytrace=False)


def _skip(verdict: Verdict) -> NoReturn:
    kind = DoesNotApply if verdict.status == "not-applicable" else SkippedByVerdict
    raise kind(verdict.reason if kind is DoesNotApply else verdict.summary)
