"""What tests use of `report`."""

from pytest_recsys_mt.report import diffs, trackers
from pytest_recsys_mt.report.answers import (
    LISTED,
    answers_path,
    read_answers,
    taken_from,
    write_answers,
)
from pytest_recsys_mt.report.answers_command import mcnemar
from pytest_recsys_mt.report.asked import MOST_CHARACTERS, asked_of, plain_requests
from pytest_recsys_mt.report.attempts import CRASHED, lost, results_of
from pytest_recsys_mt.report.changes import Change, changes
from pytest_recsys_mt.report.comment import PullRequest, text_of
from pytest_recsys_mt.report.ending import _merged
from pytest_recsys_mt.report.evidence import evidence
from pytest_recsys_mt.report.facts import dimensions, summed
from pytest_recsys_mt.report.folding import (
    SHOWN_REASONS,
    few_of,
    inapplicable,
    sentence,
    sentence_of,
    unsettled,
    with_changed_lists,
    without_number,
)
from pytest_recsys_mt.report.glossary import (
    TERMS,
    entries_of,
    entry_of,
    measure_of,
    names_of,
)
from pytest_recsys_mt.report.judged import judged, unread_in_words, unread_of
from pytest_recsys_mt.report.junit import _name_ours
from pytest_recsys_mt.report.kept_lists import is_kept, kept
from pytest_recsys_mt.report.markdown import in_markdown
from pytest_recsys_mt.report.measures import effect_of, limit_in_short, limit_of
from pytest_recsys_mt.report.outputs import record_at
from pytest_recsys_mt.report.planned_papers import PlannedTest, papers_of
from pytest_recsys_mt.report.raising import as_code, how_to_send
from pytest_recsys_mt.report.record import Record
from pytest_recsys_mt.report.relation_list import promise_of
from pytest_recsys_mt.report.replicates import columns_of
from pytest_recsys_mt.report.rows import lines_of, row_of
from pytest_recsys_mt.report.sheets import NONE, in_csv
from pytest_recsys_mt.report.short_names import distinct_names, folded
from pytest_recsys_mt.report.spending import along, spent
from pytest_recsys_mt.report.step_summary import _row, markdown
from pytest_recsys_mt.report.table import (
    COLUMNS,
    USUAL,
    WORDS,
    write_side_by_side,
    write_table,
)
from pytest_recsys_mt.report.terminal import COUNTED
from pytest_recsys_mt.report.user_answers import show_user
from pytest_recsys_mt.safety.widths import width

__all__ = [
    "COLUMNS",
    "COUNTED",
    "CRASHED",
    "LISTED",
    "MOST_CHARACTERS",
    "NONE",
    "SHOWN_REASONS",
    "TERMS",
    "USUAL",
    "WORDS",
    "Change",
    "PlannedTest",
    "PullRequest",
    "Record",
    "_merged",
    "_name_ours",
    "_row",
    "along",
    "answers_path",
    "as_code",
    "asked_of",
    "changes",
    "columns_of",
    "diffs",
    "dimensions",
    "distinct_names",
    "effect_of",
    "entries_of",
    "entry_of",
    "evidence",
    "few_of",
    "folded",
    "how_to_send",
    "in_csv",
    "in_markdown",
    "inapplicable",
    "is_kept",
    "judged",
    "kept",
    "limit_in_short",
    "limit_of",
    "lines_of",
    "lost",
    "markdown",
    "mcnemar",
    "measure_of",
    "names_of",
    "papers_of",
    "plain_requests",
    "promise_of",
    "read_answers",
    "record_at",
    "results_of",
    "row_of",
    "sentence",
    "sentence_of",
    "show_user",
    "spent",
    "summed",
    "taken_from",
    "text_of",
    "trackers",
    "unread_in_words",
    "unread_of",
    "unsettled",
    "width",
    "with_changed_lists",
    "without_number",
    "write_answers",
    "write_side_by_side",
    "write_table",
]
