"""Does the reason for a recommendation stay the same while the history is a little noisy?

The paper:
    RobustExplain: Evaluating Robustness of LLM-Based Explanation Agents for
    Recommendation. G. Zhang, K. Zhao, J. Friedman, X. Chu, 2026, arXiv:2601.19120.

What is encoded:
    The model explains its own first recommendation, once for the history as it is and
    once for a perturbed one: two ratings left out, random ones added, or another order.
    The number of a user is how much less these two explanations have in common than two
    explanations of the unperturbed history, so a model's own noise counts for nothing.

What differs:
    The paper has five perturbations, each at five severities, and a weighted sum of four
    similarities; here are three at one severity, and one similarity, the words in common.
    Another one is any function of two texts. The one by embeddings is skipped without
    `pip install sentence-transformers`, and loads a model. A limit is claimed with an error
    rate, and noise is taken off; the paper reports means.

Title, authors and id were looked up; perturbations and similarities are from the abstract
and the authors' code. Prompt and limit are ours. A free prompt is `recsys.texts`.
"""

import functools

import numpy as np
import pytest

from pytest_recsys_mt import Message, Prompt, World
from pytest_recsys_mt.oracles import judged
from pytest_recsys_mt.relations import drop_history, noisy_profile, reorder_history


def words(one, two):
    one, two = ({*text.lower().split()} for text in (one, two))
    return len(one & two) / (len(one | two) or 1)


@functools.cache
def encoder():
    extra = pytest.importorskip("sentence_transformers")
    return extra.SentenceTransformer("all-MiniLM-L6-v2")


def embedding(one, two):
    one, two = encoder().encode([one, two])  # of length 1
    return min(max(float(one @ two), 0), 1)


def why(history, item):
    rated = "\n".join(f"{each.item.label}: {each.value:g}" for each in history)
    question = f"My ratings:\n{rated}\nWhy should I see {item.label}?"
    return Prompt((Message("user", question),))


NOISE = [drop_history(2), noisy_profile(2), reorder_history]


@pytest.mark.parametrize("similar", [words, embedding])
@pytest.mark.parametrize("noise", NOISE, ids=lambda each: each.name)
def test_the_reason_is_stable(recsys, noise, similar):
    ask, films = recsys.texts.complete, recsys.context.items
    sample = recsys.run().sample()
    rng, world = np.random.default_rng(0), World(catalogue=tuple(films.values()))
    plain, noisy = {}, {}
    for each in sample.asked:
        if item := films.get(next(iter(each.answers[0].items), None)):
            plain[each.user] = why(each.request.history, item)
            noisy[each.user] = why(noise(each.request, rng, world).history, item)
    once, again = (ask(*plain.values(), replicate=number) for number in (0, 1))
    changed = ask(*noisy.values())
    lost = dict.fromkeys(sample.order)  # None: there is no explanation
    for user, *texts in zip(plain, once, again, changed, strict=True):
        if None not in (said := [each.text for each in texts]):
            lost[user] = similar(said[0], said[1]) - similar(said[0], said[2])
    assert judged(lost, recsys.context, at_most=0.1, span=(-1, 1), name="likeness lost")
