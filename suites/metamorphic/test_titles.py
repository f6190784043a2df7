"""An item is known by its id: how its title is spelt says nothing.

A recommender that reads no titles keeps this vacuously; a control that exchanges titles finds out. A text model is asked
in other spellings of its whole prompt (test_prompt.py).
"""

from pytest_recsys_mt import NotApplicable, metamorphic, thresholds
from pytest_recsys_mt.oracles import unmoved
from pytest_recsys_mt.relations import spell_titles

MARGIN = thresholds(__file__, "margin")


@metamorphic(spell_titles("plain"), spell_titles("upper"), spell_titles("decomposed"))
def test_the_spelling_of_titles_is_irrelevant(source, followup, recsys):
    if recsys.reads_text or recsys.saves_calls:
        raise NotApplicable("a text model and an endpoint are asked about the wording of prompts")
    assert unmoved(source, followup, margin=MARGIN["spelling"], changed=MARGIN["spelling"])
