"""What tests use of `recommenders.trained` that needs extra packages."""

from pytest_recsys_mt.recommenders.trained import base, bprmf, trainer
from pytest_recsys_mt.recommenders.trained.base import TrainedRecommender
from pytest_recsys_mt.recommenders.trained.bprmf import BPRMF
from pytest_recsys_mt.recommenders.trained.fm import FM, DeepFM, DeepMachine, Machine
from pytest_recsys_mt.recommenders.trained.gru4rec import GRU4Rec, stretches
from pytest_recsys_mt.recommenders.trained.lightgcn import LightGCN
from pytest_recsys_mt.recommenders.trained.losses import bpr, sampled_cross_entropy
from pytest_recsys_mt.recommenders.trained.network import (
    Network,
    dropped,
    embed,
    rows,
    threads,
    triples,
)
from pytest_recsys_mt.recommenders.trained.nrms import NRMS, _Encoder, _Encoders, words
from pytest_recsys_mt.recommenders.trained.sasrec import SASRec, window_ends
from pytest_recsys_mt.recommenders.trained.trainer import Settings, train, validate

__all__ = [
    "BPRMF",
    "FM",
    "NRMS",
    "DeepFM",
    "DeepMachine",
    "GRU4Rec",
    "LightGCN",
    "Machine",
    "Network",
    "SASRec",
    "Settings",
    "TrainedRecommender",
    "_Encoder",
    "_Encoders",
    "base",
    "bpr",
    "bprmf",
    "dropped",
    "embed",
    "rows",
    "sampled_cross_entropy",
    "stretches",
    "threads",
    "train",
    "trainer",
    "triples",
    "validate",
    "window_ends",
    "words",
]
