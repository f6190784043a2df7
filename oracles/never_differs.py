"""A deterministic recommender always gives the same
answer: one counterexample refutes it.
"""

import numpy as np

from pytest_recsys_mt.oracles.arguments import two_sides
from pytest_recsys_mt.oracles.judging.account import (
    missing_in_words,
    too_many_unread,
    unread_counts,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.judging.difference import require_answer, scored
from pytest_recsys_mt.oracles.judging.effect import MOST_HOLES, mostly_holes
from pytest_recsys_mt.oracles.judging.encoding import encode
from pytest_recsys_mt.oracles.judging.examples import pick
from pytest_recsys_mt.oracles.judging.judge import reported, with_vacuity
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.shared import what_is_shared
from pytest_recsys_mt.oracles.judging.together import CHANGED
from pytest_recsys_mt.safety.errors import MissingAnswerError, OracleError
from pytest_recsys_mt.verdict.answers import Answers, Asked, Pairs
from pytest_recsys_mt.verdict.verdict import Status, Verdict


def never_differs(
    source: Answers,
    followup: Answers,
    users: int | None = None,
) -> Verdict:
    """Every answer of the follow-up must equal its counterpart, for a deterministic
    recommender.

    This is not a claim about a mean: one user refutes *always*. So a few users are
    enough, and no margin is needed. But they do not prove the promise: ``holds``
    applies only to the users asked.

    A counterexample counts only if it is confirmed when both sides are asked again: the
    same user's answers differ, and the follow-up's answers are the same as before. If
    the follow-up is the same request, asked in the same way
    (`pytest_recsys_mt.relations.same_seed_same_answer`), any user with a different
    answer is a counterexample: the recommender is not deterministic. The rest of the
    run then treats it as stochastic, so this fault is reported once and not for every
    relation.

    Arguments are those of `same_ranking`, but the recommender declares itself
    deterministic. Only the first `users` who are applicable on both sides are asked;
    None asks all.

    Example:
        assert never_differs(recsys.run(), recsys.run(ask_alone))

    Returns:
        ``holds`` if no user's answers differ, ``violated`` if one user's differ,
        ``inconclusive`` if they no longer differ when asked again, unless the
        recommender is an object in this process: nothing but the other requests can
        have changed its answers then. `estimate` is the share of users whose answers
        differ.

    Raises:
        OracleError: If the recommender does not declare itself deterministic.
    """
    two_sides("never_differs", source, followup)
    if isinstance(users, bool) or not (
        users is None or (isinstance(users, int) and users > 0)
    ):
        raise OracleError(
            f"never_differs: users must be a whole number from 1, got {users!r}",
        )
    if not source.context.deterministic:
        raise OracleError(
            "never_differs: the recommender does not declare itself deterministic, or a test of this run "
            "showed that it is not; use same_ranking, which allows for noise",
        )
    pairs = source.pair(
        followup,
        source.applicable(followup) if users is None else users,
    )
    verdict, seen_again = _judged(source, followup, pairs)
    verdict = with_vacuity(verdict, source, followup)
    return reported(verdict, never_differs, source, followup, shrinks=seen_again)


def _judged(source: Answers, followup: Answers, pairs: Pairs) -> tuple[Verdict, bool]:
    """The verdict, and whether each user's difference was seen again. If not, other
    requests may be what changed the answers.
    """

    def differ(source: Asked, followup: Asked) -> float:
        require_answer(source, followup)
        return _differ(source, followup)

    effects, (effect,) = scored(differ, pairs.source, pairs.followup, noise="no bias")
    seen, users = Seen.of(effects, pairs, pairs.source, pairs.followup), len(effect)
    status, reason, seen_again = _found(source, followup, pairs, effect)
    holes = encode(pairs, source.context).holes
    if status == "holds" and holes > MOST_HOLES:
        status, reason = "inconclusive", mostly_holes(holes)
    unasked = {} if status == "violated" else pairs.unasked
    account = seen.account
    if status == "holds" and account.missing:
        status, reason = "inconclusive", ""
    unread = too_many_unread(pairs, source.context)
    found = without_verdict(
        account,
        unasked,
        source.context,
        unread=unread,
        everybody=True,
    )
    status, reason = found or (status, reason)
    if found is None:
        reason = "; ".join(filter(None, (reason, *missing_in_words(account))))
    details = unreadable(pairs, {})
    if status == "violated":
        details |= what_is_shared(effect > 0, effects, pairs, source.context)
    verdict = Verdict(
        status,
        "never_differs",
        followup.label or source.label,
        against=source.label if followup.label else "",
        estimate=float(effect.mean()) if users and not unread else None,
        measures="share of users whose answer differs",
        p_value={"violated": 0.0, "holds": 1.0}.get(status),
        users=users,
        not_applicable=account.without_number,
        errors=account.errors.total(),
        account=account.plain,
        reason=reason,
        details=details,
        examples=pick(effects, effect, pairs.source, pairs.followup, source.context),
    )
    return verdict, seen_again


def _found(
    source: Answers,
    followup: Answers,
    pairs: Pairs,
    effect: np.ndarray,
) -> tuple[Status, str, bool]:
    differing = int(effect.sum())
    if not differing:
        return "holds", f"none of {len(effect)} users got another answer", False
    if pairs.days:
        return (
            "violated",
            (
                f"{differing} of {len(effect)} users got another answer in this run than in an earlier one, whose answers are "
                f"cached; the fingerprint is the same"
            ),
            False,
        )
    again = followup.same_seed and not source.label
    text = f"{differing} of {len(effect)} users got another answer"
    if again:
        text += (
            " to the same request, and the recommender declares itself deterministic"
        )
    one_by_one = again and source.context.in_process
    at_once = (
        again and not pairs.apart
    )  # then no change with time explains the difference
    if at_once and not one_by_one:
        return "violated", text, False
    try:
        repeated = _asked_again(source, followup, pairs, effect, alone=one_by_one)
    except MissingAnswerError:
        if at_once:
            return "violated", text, False
        return (
            "inconclusive",
            (
                f"{text}; no repeated answers are recorded, and --recsys-mode=replay sends no requests"
            ),
            False,
        )
    if repeated is None:
        return "violated", text, False
    confirmed = _confirmed(pairs, repeated, same_request=again)
    if confirmed:
        way = " one by one" if one_by_one else ""
        text = f"{text}, {confirmed} of them also when asked again{way}"
        return "violated", text, confirmed == differing
    return (*_unconfirmed(source, repeated, text, one_by_one=one_by_one), False)


def _unconfirmed(
    source: Answers, repeated: Pairs, text: str, *, one_by_one: bool
) -> tuple[Status, str]:
    """What answers show that differed once, and not when asked again."""
    if repeated.unread:
        return (
            "inconclusive",
            f"{text}; asked again, {unread_counts(len(repeated.unread), len(repeated.order))}",
        )
    if source.context.in_process:
        return "violated", (
            f"{text}; asked again{' one by one' if one_by_one else ''}, none of them did: the other requests of a batch, "
            f"or those before it, change the answer to a request"
        )
    return "inconclusive", f"{CHANGED}: {text}, and none of them when asked again"


def _asked_again(
    source: Answers,
    followup: Answers,
    pairs: Pairs,
    effect: np.ndarray,
    *,
    alone: bool,
) -> Pairs | None:
    """Both sides asked once more, if `alone` each request by itself and only those of
    users whose answers differ. None if no answer can change.
    """
    if not alone:
        return source.pair_anew(followup, len(pairs.source))
    theirs = zip(pairs.source, effect, strict=True)
    agree = {asked.user for asked, differs in theirs if not differs}
    return source.pair_anew(followup, len(pairs.source), without=agree, alone=True)


def _confirmed(pairs: Pairs, repeated: Pairs, *, same_request: bool) -> int:
    """How many users' answers differ again; if the two requests are not the same one,
    only users whose follow-up answers are as before.
    """
    if same_request:
        return sum(
            _differ(*both)
            for both in zip(repeated.source, repeated.followup, strict=True)
        )
    first = {
        one.user: (one, two)
        for one, two in zip(pairs.source, pairs.followup, strict=True)
    }
    return sum(
        _differ(*first[one.user])
        and _differ(one, two)
        and not _differ(first[one.user][1], two)
        for one, two in zip(repeated.source, repeated.followup, strict=True)
        if one.user in first
    )


def _differ(source: Asked, followup: Asked) -> bool:
    both = zip(source.answers, followup.answers, strict=False)
    return any(one.items != other.items for one, other in both)
