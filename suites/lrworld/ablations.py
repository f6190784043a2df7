"""Changes to questions that should not change the answers: the paper's ablations."""

from collections.abc import Sequence
from dataclasses import replace

from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.suites.lrworld.histories import SEPARATOR
from pytest_recsys_mt.suites.lrworld.question import Question
from pytest_recsys_mt.suites.lrworld.same import form


def shuffled(
    questions: Sequence[Question],
    seed: int,
    number: int = 0,
) -> tuple[Question, ...]:
    """The same questions, by their names, with their options in a
    random order, another for another number.
    """
    found = []
    for question in questions:
        rng = generator("lrworld", "shuffled", question.id, seed, number)
        order = rng.permutation(len(question.options)).tolist()
        options = tuple(question.options[place] for place in order)
        found.append(
            replace(question, options=options, answer=order.index(question.answer)),
        )
    return tuple(found)


def noisy(questions: Sequence[Question], seed: int) -> tuple[Question, ...]:
    """The same questions, of one kind, with one item of each history replaced by one of
    another's.

    The item is drawn from all items in the histories of the questions. It is in neither
    the history nor the options, and it is not the item chosen next, so it does not
    affect the right answer. Its place is uniform.

    Raises:
        NotApplicable: If the questions show no histories, or too few different items.
    """
    pool = sorted({item for question in questions for item in history(question)})
    if not pool:
        raise NotApplicable("needs questions that show a history")
    return tuple(_noisy(question, pool, seed) for question in questions)


def history(question: Question) -> tuple[str, ...]:
    """The history that a question shows; empty without one."""
    return tuple(question.shown.get("history", ()))


def _noisy(question: Question, pool: Sequence[str], seed: int) -> Question:
    items = list(history(question))
    shown = (*items, *question.options, str(question.evidence.get("label", "")))
    taken = {form(part) for text in shown for part in (text, *text.split(SEPARATOR))}
    others = [item for item in pool if form(item) not in taken]
    if not items or not others:
        raise NotApplicable(
            f"question {question.id} shows no history, or nothing else is known",
        )
    rng = generator("lrworld", "noisy", question.id, seed)
    items[int(rng.integers(len(items)))] = others[int(rng.integers(len(others)))]
    return replace(question, shown={**question.shown, "history": tuple(items)})
