"""An item is known by its id: how its title is spelt says nothing, and who shares it is
another item.

A recommender that reads no titles keeps this vacuously; a control that exchanges titles
finds out. A text model is asked in other spellings of its whole prompt
(test_prompt.py).
"""

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import few_unchanged, unmoved
from pytest_recsys_mt.relations import replace_namesakes, spell_titles

MARGIN = thresholds(__file__, "margin")
HIT = thresholds(__file__, "hit")
USERS = thresholds(__file__, "users")


@metamorphic(spell_titles("plain"), spell_titles("upper"), spell_titles("decomposed"))
def test_the_spelling_of_titles_is_irrelevant(source, followup, recsys):
    if recsys.reads_text or recsys.saves_calls:
        raise NotApplicable(
            "a text model and an endpoint are asked about the wording of prompts",
        )
    assert unmoved(
        source,
        followup,
        margin=MARGIN["spelling"],
        changed=MARGIN["spelling"],
    )


def test_namesakes_are_items_of_their_own(recsys):
    source, others = recsys.run(), recsys.run(replace_namesakes("others"))
    followup = recsys.run(replace_namesakes("namesakes"))
    if not source.context.deterministic or recsys.reads_text or recsys.saves_calls:
        raise NotApplicable(
            "asked of deterministic recommenders that read no prompts, and of no endpoint",
        )
    if share_that_changed(source, others) < HIT["changed_by_others"]:
        raise NotApplicable(
            "other items in place of the namesakes hardly change an answer either",
        )
    assert few_unchanged(source, followup, margin=HIT["unchanged_by_namesakes"])


def share_that_changed(source, followup):
    """The share of the first users who can be asked both whose lists differ."""
    users = int(USERS["of_a_size"])
    before = {
        asked.user: asked.answers[0].items for asked in source.sample(users).asked
    }
    after = {
        asked.user: asked.answers[0].items for asked in followup.sample(users).asked
    }
    both = before.keys() & after.keys()
    if not both:
        raise NotApplicable("no user has an item with a namesake")
    return sum(before[user] != after[user] for user in both) / len(both)
