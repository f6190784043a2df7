"""The lists of users whom a file names must have what the file pins."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_recsys_mt.oracles.arguments import one_side
from pytest_recsys_mt.oracles.judging.account import (
    NO_ANSWER,
    too_many_unread,
    unreadable,
    without_verdict,
)
from pytest_recsys_mt.oracles.judging.difference import Unanswered, scored
from pytest_recsys_mt.oracles.judging.examples import pick
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.pins.current_lists import lines, updated
from pytest_recsys_mt.oracles.pins.entries import (
    Pin,
    contradictions,
    not_offered,
    of_user,
    read,
    refuse,
    unknown,
)
from pytest_recsys_mt.oracles.pins.keeping import (
    Kept,
    few,
    kept_in,
    status_of,
    too_few,
)
from pytest_recsys_mt.oracles.pins.text import rendered, rewritten
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import (
    Answers,
    Asked,
    Context,
    Lost,
    Named,
    Sample,
)
from pytest_recsys_mt.verdict.verdict import Status, Verdict

NEW = 10
"""Users of the run whose lists a new file pins."""


def pinned(answers: Answers, file: str | Path) -> Verdict:
    """The lists of the users in a file must have what it pins: a file that is reviewed
    like code.

    The users of the file are asked, whether they are in the sample of the run or not. A
    table ``[users.ID]`` has one or more of ``contains`` (items at any place),
    ``excludes`` (items at no place), ``begins`` (the first items, in order) and
    ``equals`` (the whole list, in order). It may say ``k`` and ``candidates`` (0: the
    whole catalogue) for this user's request; else they are those of the run.
    ``--recsys-pin`` writes ``equals`` and ``begins`` from the current answers, or a new
    file of the first 10 users of the run. Such a test does not pass.

    A recommender that is not deterministic is asked more than once. A pin then says
    what most answers have: it is broken if answers that break it are shown to be the
    majority, at the error rate of the run, and kept if none does, or if those that keep
    it are shown to be. Else the verdict is inconclusive, and says in how many answers
    the pin was kept. With ``strict = true`` one answer breaks it.

    Args:
        answers: Answers of either side.
        file: A TOML file, below the folder that pytest was called in, or a whole path.

    Example:
        assert pinned(recsys.run(), "pinned.toml")

    Returns:
        ``holds`` if every pinned list was kept, which is about the answers asked,
        ``violated`` if one is broken, and ``inconclusive`` if one is unknown.
        `estimate` is the mean share of a user's answers that break the pin.

    Raises:
        OracleError: If the file cannot be read, or is wrong; the error lists
            everything.
    """
    __tracebackhide__ = True
    context = one_side("pinned", "answers", answers).context
    asking = context.named
    if asking is None:
        raise OracleError(
            "pinned: answers must be those of recsys.run(), which can ask named users",
        )
    path = Path(file)
    pins, wrong = _entries(answers, asking, path)
    look = _asked(answers, asking, path, pins, wrong)
    written = asking.written(path) or (
        _write(look, asking, path, context) if asking.rewrites else ""
    )
    verdict = _judged(look, answers.label, path, context)
    if written:
        verdict = replace(
            verdict,
            status="inconclusive",
            reason=written,
            p_value=None,
            estimate=None,
        )
    return context.report(verdict)


def _entries(
    answers: Answers,
    asking: Named[Answers],
    path: Path,
) -> tuple[dict[str, Pin], list[str]]:
    """The entries of the file; those of a file to be made pin nothing yet."""
    __tracebackhide__ = True
    if asking.rewrites and not path.exists():
        return {user: Pin(user) for user in answers.sample(NEW).order}, []
    return read(path)


@dataclass(frozen=True)
class _Look:
    """The answers to all pinned users.

    Attributes:
        pins: The entries, by user.
        sample: The answers.
        requests: The requests, by user.
        missing: Why users have no answer.
    """

    pins: Mapping[str, Pin]
    sample: Sample
    requests: Mapping[str, Request]
    missing: Mapping[str, str]


def _asked(
    answers: Answers,
    asking: Named[Answers],
    path: Path,
    pins: Mapping[str, Pin],
    wrong: list[str],
) -> _Look:
    """Check the entries with the data and the requests, then send the requests: one
    side for each k and number of candidates.
    """
    __tracebackhide__ = True
    items = answers.context.items
    groups: dict[tuple[int, int], list[str]] = {}
    for user, pin in pins.items():
        mistakes = [
            *contradictions(pin, *asking.design),
            *unknown(pin, asking.users, items),
        ]
        wrong += of_user(pin, mistakes)
        if not mistakes:
            k, candidates = asking.design
            k = k if pin.k is None else pin.k
            candidates = candidates if pin.candidates is None else pin.candidates
            groups.setdefault((k, candidates), []).append(user)
    sides = [asking.side(answers, users, *group) for group, users in groups.items()]
    requests: dict[str, Request] = {}
    missing: dict[str, str] = {}
    for _, made, reasons in sides:
        requests |= made
        missing |= reasons
    for user, request in requests.items():
        wrong += of_user(pins[user], not_offered(pins[user], request, items))
    refuse(path, wrong)
    samples = [side.sample() for side, _, _ in sides]
    return _joined(pins, samples, requests, missing)


def _joined(
    pins: Mapping[str, Pin],
    samples: Sequence[Sample],
    requests: Mapping[str, Request],
    without: Mapping[str, str],
) -> _Look:
    """The answers of all groups as one sample.

    A recommender that refuses all requests of one group and answers another has refused
    these users.
    """
    order = [user for sample in samples for user in sample.order]
    reasons = Counter(without.values())
    refused = (
        sum((Counter(sample.not_applicable) for sample in samples), Counter()) - reasons
    )
    lost = [each for sample in samples for each in sample.lost]
    if any(sample.everyone for sample in samples):
        why = "; ".join(sorted(refused)) or "no reason given"
        further = [user for user in requests if user not in set(order)]
        lost += [Lost(user, "refused", why) for user in further]
        order += further
    else:
        reasons += refused
    sample = Sample(
        tuple(asked for sample in samples for asked in sample.asked),
        reasons,
        tuple(lost),
        sum((Counter(sample.unasked) for sample in samples), Counter()),
        unread=tuple(asked for sample in samples for asked in sample.unread),
        order=tuple(order),
        drawn=frozenset(),
        sampled=len(pins),
    )
    missing = dict(without) | {each.user: each.reason for each in lost}
    missing |= dict.fromkeys(sample.unread_users, "nothing could be read in an answer")
    return _Look(pins, sample, requests, missing)


def _write(look: _Look, asking: Named[Answers], path: Path, context: Context) -> str:
    """Write the file if a list changed; returns a note for the run, maybe empty."""
    answered = {
        each.user: (each.request, each.answers) for each in look.sample.everyone
    }
    found = updated(look.pins, answered, look.missing, context.items)
    for line in lines(found):
        print(f"{path}: {line}")
    if not found.changes:
        return ""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    text = rewritten(old, found.pins, context.items) if old else None
    note = f"{path} written: {len(found.changes)} of {found.of} lists changed"
    if not old:
        note = (
            f"{path} written: it is new, and pins the lists of {len(found.pins)} users"
        )
    elif text is None:
        note += ", and comments could not be kept"
    if found.kept:
        note += (
            f"; {len(found.kept)} could not be written ({few([*sorted(found.kept)])})"
        )
    note += "; review the diff"
    asking.write(path, text or rendered(found.pins, context.items), note)
    return note


def _judged(look: _Look, relation: str, path: Path, context: Context) -> Verdict:
    sample = look.sample
    results: list[Kept] = []

    def broken(asked: Asked) -> float:
        pin = look.pins[asked.user]
        if not pin.wanted and not any(answer.items for answer in asked.answers):
            raise Unanswered(
                NO_ANSWER,
            )  # a list without items has nothing that is excluded
        kept = kept_in(asked, pin, context)
        results.append(kept)
        return (kept.of - kept.kept) / kept.of

    effects, (effect,) = scored(broken, sample.asked)
    seen = Seen.of(effects, sample, sample.asked, ())
    account = seen.account
    unread = too_many_unread(sample, context)
    status, reason, p_value = status_of(results, context)
    if status != "violated" or unread:
        found = without_verdict(
            account,
            sample.unasked,
            context,
            unread=unread,
            everybody=True,
        )
        if found is None and account.missing:
            found = (
                "inconclusive",
                "users without an answer cannot keep what is pinned for them",
            )
        status, reason = found or (status, reason)
    reason += "".join(_lacking(look, status, context))
    details = {
        **unreadable(sample, {}),
        "pinned": {
            "users": len(look.pins),
            "kept": sum(not each.why for each in results),
            "broken": {each.user: each.words for each in results if each.why},
            "missing": dict(look.missing),
        },
    }
    return Verdict(
        status,
        f"pinned:{path.name}",
        relation,
        estimate=float(effect.mean()) if len(effect) and not unread else None,
        measures="share of answers that break what is pinned",
        p_value=p_value if status in ("violated", "holds") else None,
        users=len(effect),
        not_applicable=account.without_number,
        errors=account.errors.total(),
        account=account.plain,
        reason=reason,
        details=details,
        per_user={} if unread else seen.per_user,
        reach=(0.0, 1.0),
        examples=pick(effects, effect, sample.asked, (), context),
    )


def _lacking(look: _Look, status: Status, context: Context) -> Iterator[str]:
    """How many users have no list, or one with too few items, for the end of
    a reason.
    """
    of = len(look.pins)
    missing = [f"user {user!r}: {why}" for user, why in sorted(look.missing.items())]
    if missing and status != "not-applicable":
        yield f"; {len(missing)} of {of} users have no list ({few(missing)})"
    asked = look.sample.asked
    short = [text for each in asked if (text := too_few(each, context))]
    if short:
        yield f"; {len(short)} of {of} users got too few items ({few(short)})"
