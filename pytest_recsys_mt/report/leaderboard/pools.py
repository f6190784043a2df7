"""The records of a board: those of one data set are
compared if they were run alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_recsys_mt.gate.baseline import differences, prompts_of
from pytest_recsys_mt.gate.comparison import keyed
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import address
from pytest_recsys_mt.gate.states import detail_of
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

Key = tuple[str, str, int]
"""The test without its model, its oracle, and which of its verdicts by that oracle."""


@dataclass
class Pool:
    """Records of the same users and settings, by model, or by model and prompts where
    one is run with several.

    Attributes:
        origin: The name of the record, the record, and the model as it is there.
    """

    first: tuple[str, Document]
    rows: dict[str, list[Row]] = field(default_factory=dict)
    origin: dict[str, tuple[str, Document, str]] = field(default_factory=dict)


def pools_of(records: Sequence[tuple[str, Document]]) -> list[Pool]:
    """The records by their data.

    Raises:
        DataError: If records of one data set cannot be compared.
    """
    pools: dict[str, Pool] = {}
    prompts: dict[str, set[str]] = {}
    for _, record in records:
        for model in record["models"]:
            prompts.setdefault(model, set()).add(prompts_of(record))
    for name, record in records:
        key = f"{record['data']} {record.get('data_digest')}"
        pool = pools.setdefault(key, Pool((name, record)))
        first_name, first = pool.first
        # Models may have other tests: those that are missing are not compared.
        found = [
            text
            for text in differences(first, record)
            if not text.startswith("other tests")
        ]
        if found:
            raise DataError(
                f"{name!r} cannot stand beside {first_name!r}: {'; '.join(found)} "
                f"(the baseline is the first, this run the second); run both alike",
            )
        for model in record["models"]:
            # Older records name no prompt.
            prompt = prompts_of(record) if len(prompts[model]) > 1 else ""
            called = f"{model} ({prompt})" if prompt else model
            _add_model(pool, name, record, model, called)
    return list(pools.values())


def _add_model(
    pool: Pool,
    name: str,
    record: Document,
    model: str,
    called: str,
) -> None:
    """Add a model of a record to its pool.

    Args:
        pool: The pool.
        name: The name of the record.
        record: The record.
        model: The name of the model in the record.
        called: Its name on the board.

    Raises:
        DataError: If the pool has it already, or its questions are not those of the
            models there.
    """
    if called in pool.origin:
        raise DataError(
            f"the model {called!r} is in {pool.origin[called][0]!r} and in {name!r}; give one record of it",
        )
    _refuse_other_questions(pool, name, model, record)
    pool.origin[called] = (name, record, model)
    pool.rows[called] = [
        {**row, "model": called, "nodeid": address(row)}
        for row in record["results"]
        if row["model"] == model
    ]


def _refuse_other_questions(
    pool: Pool,
    name: str,
    model: str,
    record: Document,
) -> None:
    """Check that the questions of a model are those of the models of its pool.

    Raises:
        DataError: If they are others.
    """
    asked: dict[Key, tuple[object, str]] = {}
    for other, rows_of_other in pool.rows.items():
        for key, row in keyed(rows_of_other):
            digest = detail_of(row, "questions_digest")
            if digest:
                asked[key] = (digest, other)
    rows = [row for row in record["results"] if row["model"] == model]
    for key, row in keyed(rows):
        digest = detail_of(row, "questions_digest")
        if not digest or key not in asked:
            continue
        earlier_digest, other = asked[key]
        if earlier_digest != digest:
            raise DataError(
                f"{name!r} cannot stand beside {pool.origin[other][0]!r}: {one_line(key[0])} asked other questions "
                f"(SHA-256 {one_line(str(earlier_digest))[:12]} and {one_line(str(digest))[:12]}); ask both the same questions",
            )
