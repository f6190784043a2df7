"""The head of the file, and the page that explains it, in Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from pytest_recsys_mt.faults.writing.settling import CHANCE, Settled
from pytest_recsys_mt.faults.writing.writer import File
from pytest_recsys_mt.safety.sanitize import one_line

WIDTH = 88
EXACT = "never_differs"

_SAID = {
    "holds": ("holds", "hold"),
    "violated": ("is broken", "are broken"),
    "vacuous": (
        "holds because what changes is not read",
        "hold because what changes is not read",
    ),
    "unsettled": ("could not be settled", "could not be settled"),
    "not read": ("says what is not read", "say what is not read"),
    "not applicable": ("does not apply", "do not apply"),
}
"""How a count of promises is said, by their verdict."""

_SKELETON = """\
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import transformation


@transformation
def my_change(request, rng, world):
    return request  # with what should say nothing to your recommender


@metamorphic(my_change)
def test_my_change_says_nothing(source, followup):
    assert same_ranking(source, followup, "rbo", margin=0.05)
"""


def counts(promises: Sequence[Settled]) -> str:
    """How many promises have each verdict, in words."""
    parts = []
    for verdict, (one, several) in _SAID.items():
        number = sum(each.verdict == verdict for each in promises)
        if number:
            parts.append(f"{number} {one if number == 1 else several}")
    return ", ".join(parts)


def found_by(file: File) -> set[str]:
    """The planted faults that the file's tests find."""
    finds = file.trial.finds
    return {fault for each in file.chosen for fault in finds.get(each.test, ())}


def head(file: File, command: str, run: str) -> str:
    """What stands at the beginning of the file.

    Args:
        file: The file.
        command: The command that wrote it.
        run: The command that runs it.
    """
    trial = file.trial
    record = trial.record
    found = found_by(file)
    users = sum(each.asked for each in file.chosen)
    sentences = (
        f"Of {len(file.promises)} promises {counts(file.promises)}{_beyond(file)} (data {one_line(record['data'])}, seed "
        f"{record['seed']}). These {len(file.chosen)} promises, in {len(file.tests)} tests, find {len(found)} of {len(trial.faults)} planted faults that change "
        f"its answers{_not_planted(file)}, and ask {users:,} changed questions.{_met(file)} {_tried(file)}{_varies(file)}"
    )
    unread = [each for each in file.promises if each.verdict == "not read"]
    advice = ""
    if unread:
        changes = ", ".join(each.candidate.change for each in unread)
        advice = (
            f"\n\nIts answers do not depend on what these change: {changes}. If that is meant, declare it (ignores = "
            f'("ratings",) or ("history",)); if not, it is a defect that no test here shows.'
        )
    if file.dropped:
        advice += f"\n\nLeft out, since a run of another seed did not show the same: {', '.join(file.dropped)}."
    lines = [
        f"What {one_line(trial.model)} promises.",
        "",
        *textwrap.wrap(sentences, WIDTH),
        *_paragraphs(advice),
        "",
        f"Written by pytest-recsys-mt {version('pytest-recsys-mt')}; to write it again, and to run it:",
        "",
        f"    {command}",
        f"    {run}",
    ]
    return "\n".join(lines).replace("\\", "/").replace('"""', "'''")


def _beyond(file: File) -> str:
    if not file.beyond_budget:
        return ""
    return f"; {file.beyond_budget} more were beyond the budget and not tried"


def _not_planted(file: File) -> str:
    left = file.trial.not_tried
    return f" ({left} more were not planted, for lack of time)" if left else ""


def _met(file: File) -> str:
    """What share of users an exact test is likely to meet; empty without such a test."""
    exact = [each for each in file.chosen if each.form and each.form.oracle == EXACT]
    if not exact:
        return ""
    users = min(exact[0].users, max(each.asked for each in exact))
    share = 1 - (1 - CHANCE) ** (1 / users)
    return f" {users} users of an exact test meet what hits {share:.0%} of all, with a chance of {CHANCE:.0%}."


def _tried(file: File) -> str:
    """On how many other users the tests were run than those they were chosen by."""
    if not file.others:
        return "The data have no other users than those by which the tests were chosen."
    return f"All tests were run on {file.others} users by whom they were not chosen."


def _varies(file: File) -> str:
    """That a recommender does not do what it declares."""
    if file.trial.model not in file.trial.record.get("varying", ()):
        return ""
    return (
        " It declares that it always answers alike, and gave two answers to one question: exact tests that this kept from a "
        "verdict are left out."
    )


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in filter(None, text.split("\n\n")):
        yield ""
        yield from textwrap.wrap(paragraph, WIDTH)


def page(file: File) -> str:
    """The page of ``--explain``."""
    trial = file.trial
    lines = [
        f"# How the tests of {one_line(trial.model)} were chosen",
        "",
        f"{len(file.promises)} promises: {counts(file.promises)}{_beyond(file)}.",
        "",
        *_promises(file),
        *_faults(file),
        *_unfound(file),
    ]
    return "\n".join(lines) + "\n"


def _promises(file: File) -> Iterator[str]:
    yield "| promise | verdict | changed questions | finds | in the file |"
    yield "|---|---|---|---|---|"
    for each in file.promises:
        finds = "" if each.form is None else len(file.trial.finds.get(each.test, ()))
        cells = [
            each.candidate.name,
            _verdict(each),
            each.asked,
            finds,
            _fate(each, file),
        ]
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
    yield ""


def _verdict(each: Settled) -> str:
    reason = f": {each.reason}" if each.reason else ""
    return f"{each.verdict}{reason}"


def _fate(each: Settled, file: File) -> str:
    """Whether a promise is in the file; if not, why."""
    name = each.candidate.name
    if name in {other.candidate.name for other in file.chosen}:
        ended = file.elsewhere[name].status
        return f"yes; on other users: {ended}"
    if name in file.dropped:
        return f"no: {file.dropped[name]}"
    if each.form is None:
        return "no"
    return f"no: {file.choice.left_out.get(each.test, 'it was not chosen')}"


def _cell(value: object) -> str:
    return one_line(str(value)).replace("|", "\\|")


def _faults(file: File) -> Iterator[str]:
    trial = file.trial
    found = found_by(file)
    yield "## Planted faults"
    yield ""
    left = (
        f" {trial.not_tried} more were not planted for lack of time."
        if trial.not_tried
        else ""
    )
    yield (
        f"{len(trial.faults)} of those that were planted change answers; the tests of the file find {len(found)} of "
        f"them, all that were tried {len(trial.faults) - len(trial.unfound)}.{left}"
    )
    yield ""
    yield "| fault | the recommender | found by |"
    yield "|---|---|---|"
    for fault, does in trial.faults.items():
        tests = [
            each.candidate.name
            for each in file.chosen
            if fault in trial.finds.get(each.test, ())
        ]
        shown = ", ".join(tests) or "nothing in the file"
        yield f"| {_cell(fault)} | {_cell(does)} | {shown} |"
    yield ""


def _unfound(file: File) -> Iterator[str]:
    trial = file.trial
    if not trial.unfound:
        return
    yield "## What no test finds"
    yield ""
    for fault, code in trial.unfound.items():
        yield f"`{fault}`: the recommender {one_line(trial.faults[fault])}. A test that is made for it:"
        yield ""
        yield "```python"
        yield (code or _SKELETON).rstrip()
        yield "```"
        yield ""
