"""What tests use of `calls`."""

from pytest_recsys_mt.calls import batch_files, database, prices, scheduling
from pytest_recsys_mt.calls.answer import Answer, Known, completion_of, plain_completion
from pytest_recsys_mt.calls.batch_files import _request, write_batch
from pytest_recsys_mt.calls.bill import CallFact, Cause, Causes
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.cache_files import lines_of, write_answers
from pytest_recsys_mt.calls.cached_rows import row_of, sound_answer, sound_row
from pytest_recsys_mt.calls.call import (
    PURPOSES,
    SCHEMA,
    Call,
    Content,
    Part,
    canonical,
    digest_of,
    key_of,
    plain_request,
    request_digest,
)
from pytest_recsys_mt.calls.database import Database, JSONTextDisk, leaves_stuck
from pytest_recsys_mt.calls.day_account import AT_ONCE, Accounts, DayAccount, days
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.failures import Failures
from pytest_recsys_mt.calls.keeping import Keeping
from pytest_recsys_mt.calls.limits import Budget, Limits, account
from pytest_recsys_mt.calls.prices import Price, Prices
from pytest_recsys_mt.calls.progress import Progress, Standing, line
from pytest_recsys_mt.calls.readings import Readings
from pytest_recsys_mt.calls.subject import Difference, RecommenderSubject, Wrapped
from pytest_recsys_mt.calls.subjects import subject
from pytest_recsys_mt.calls.text_subject import TextSubject
from pytest_recsys_mt.calls.tokens import PER_MESSAGE, estimated
from pytest_recsys_mt.calls.users_code import HANGS, NoAnswerError, Patience

__all__ = [
    "AT_ONCE",
    "HANGS",
    "PER_MESSAGE",
    "PURPOSES",
    "SCHEMA",
    "Accounts",
    "Answer",
    "AnswerCache",
    "Budget",
    "Call",
    "CallFact",
    "Cause",
    "Causes",
    "Content",
    "Database",
    "DayAccount",
    "Difference",
    "Executor",
    "Failures",
    "JSONTextDisk",
    "Keeping",
    "Known",
    "Limits",
    "NoAnswerError",
    "Part",
    "Patience",
    "Price",
    "Prices",
    "Progress",
    "Readings",
    "RecommenderSubject",
    "Standing",
    "TextSubject",
    "Wrapped",
    "_request",
    "account",
    "batch_files",
    "canonical",
    "completion_of",
    "database",
    "days",
    "digest_of",
    "estimated",
    "key_of",
    "leaves_stuck",
    "line",
    "lines_of",
    "plain_completion",
    "plain_request",
    "prices",
    "request_digest",
    "row_of",
    "scheduling",
    "sound_answer",
    "sound_row",
    "subject",
    "write_answers",
    "write_batch",
]
