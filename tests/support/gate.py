"""What tests use of `gate`."""

from pytest_recsys_mt.gate import policy
from pytest_recsys_mt.gate.baseline import (
    decoded,
    document_in,
    prompts_of,
    read,
    record_in,
)
from pytest_recsys_mt.gate.changed_lists import (
    UNCLEAR,
    changed_lists,
    claim_in_words,
    in_words,
    unshown,
)
from pytest_recsys_mt.gate.comparable import unknown_in_one, unknown_of
from pytest_recsys_mt.gate.comparison import bounds_of, compare
from pytest_recsys_mt.gate.decision import Gate
from pytest_recsys_mt.gate.document import Changed, Decision, Document, Drift, Row
from pytest_recsys_mt.gate.list_claims import claims_of
from pytest_recsys_mt.gate.monitor import FIRST, _shares, monitor
from pytest_recsys_mt.gate.nodeids import (
    NodeId,
    address,
    function_of,
    name_of_row,
    parts_of,
)
from pytest_recsys_mt.gate.policy import (
    MARGIN,
    Choice,
    ListsRule,
    Policy,
    Rule,
    facts_of,
    load,
)
from pytest_recsys_mt.gate.reading import OF_EXAMPLES, OF_ROWS, parsed
from pytest_recsys_mt.gate.reasons import KINDS
from pytest_recsys_mt.gate.states import State, state_of_test
from pytest_recsys_mt.gate.store import DAY, MOST, Store

__all__ = [
    "DAY",
    "FIRST",
    "KINDS",
    "MARGIN",
    "MOST",
    "OF_EXAMPLES",
    "OF_ROWS",
    "UNCLEAR",
    "Changed",
    "Choice",
    "Decision",
    "Document",
    "Drift",
    "Gate",
    "ListsRule",
    "NodeId",
    "Policy",
    "Row",
    "Rule",
    "State",
    "Store",
    "_shares",
    "address",
    "bounds_of",
    "changed_lists",
    "claim_in_words",
    "claims_of",
    "compare",
    "decoded",
    "document_in",
    "facts_of",
    "function_of",
    "in_words",
    "load",
    "monitor",
    "name_of_row",
    "parsed",
    "parts_of",
    "policy",
    "prompts_of",
    "read",
    "record_in",
    "state_of_test",
    "unknown_in_one",
    "unknown_of",
    "unshown",
]
