"""Changes that must not change the answers: noise, the order of
options, the form of the prompt, popularity.
"""

import pytest

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.oracles import accuracy_gap, accuracy_kept, same_choices
from pytest_recsys_mt.suites.lrworld import (
    MEASURES,
    ask,
    file_of,
    noisy,
    questions_of,
    rare,
    settings_of,
    shuffled,
)

LIMIT = thresholds(__file__, "ablations")
ORDERS = 5


def measures(*names):
    """The measures with these names, as parameters of a test."""
    found = [each for each in MEASURES if each.name in names]
    return pytest.mark.parametrize(
        "measure",
        found,
        ids=lambda m: f"{m.dataset}-{m.name}",
    )


def asked(recsys, measure):
    """The model, the questions, and its answers to the unchanged questions."""
    model = recsys.texts
    questions = questions_of(recsys, measure)
    return model, questions, ask(model, questions)


@measures(
    "similar_users",
    "user_to_items",
    *("cast", "director", "brand", "genre", "colour", "leaf", "intermediate", "root"),
    *("logline", "image"),
)
def test_one_strange_item_in_the_history_costs_little(recsys, measure):
    model, questions, source = asked(recsys, measure)
    followup = ask(model, noisy(questions, recsys.seed), label="noisy_profile")
    assert accuracy_kept(
        source.choices,
        followup.choices,
        recsys.context,
        LIMIT["noise"],
    )


@measures("cast", "director", "genre", "brand", "colour")
def test_the_order_of_the_options_does_not_matter(recsys, measure):
    model, questions, source = asked(recsys, measure)
    orders = [
        ask(model, shuffled(questions, recsys.seed, number), label="shuffled_options")
        for number in range(ORDERS)
    ]
    choices = [each.choices for each in orders]
    assert same_choices(source.choices, choices, recsys.context, LIMIT["order"])


@measures("logline", "similar_users")
@pytest.mark.parametrize("shots", range(1, 6), ids="k{}".format)
def test_examples_do_no_harm(recsys, measure, shots):
    model, questions, source = asked(recsys, measure)
    followup = ask(
        model,
        questions,
        shots=shots,
        seed=recsys.seed,
        label=f"few_shot({shots})",
    )
    assert accuracy_kept(
        source.choices,
        followup.choices,
        recsys.context,
        LIMIT["examples"],
    )


@measures("logline", "similar_users")
def test_thinking_step_by_step_does_no_harm(recsys, measure):
    model, questions, source = asked(recsys, measure)
    followup = ask(model, questions, think=True, label="chain_of_thought")
    assert accuracy_kept(
        source.choices,
        followup.choices,
        recsys.context,
        LIMIT["thinking"],
    )


@measures("image")
def test_seeing_the_latest_image_does_no_harm(recsys, measure):
    model, questions, source = asked(recsys, measure)
    seen = [question for question in questions if question.images]
    followup = ask(model, seen or questions, image=True, label="latest_image")
    assert accuracy_kept(
        source.choices,
        followup.choices,
        recsys.context,
        LIMIT["image"],
    )


@measures(
    "rules",
    "similar_items",
    "cast",
    "director",
    "genre",
    "brand",
    "colour",
    "logline",
)
def test_less_popular_items_are_known_as_well(recsys, measure):
    _, questions, source = asked(recsys, measure)
    names = rare(
        questions, file_of(recsys) or recsys.dataset.known, settings_of(recsys)
    )
    assert accuracy_gap(source.choices, names, recsys.context, LIMIT["popularity"])
