"""What tests use of `llm.local`."""

from pytest_recsys_mt.llm.local import hf_source
from pytest_recsys_mt.llm.local.batches import plan
from pytest_recsys_mt.llm.local.hf_model import SCORING, HFModel
from pytest_recsys_mt.llm.local.hf_source import plain_folder

__all__ = [
    "SCORING",
    "HFModel",
    "hf_source",
    "plain_folder",
    "plan",
]
