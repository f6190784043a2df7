"""Trained weights on disk, in folders named by the SHA-256 of everything that
determines them. Nothing is pickled. A folder appears completely or not at all.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import safetensors.torch
from filelock import FileLock
from safetensors import SafetensorError

from pytest_recsys_mt.recommenders.trained.network import Network
from pytest_recsys_mt.recommenders.trained.trainer import Report
from pytest_recsys_mt.safety.errors import CacheError
from pytest_recsys_mt.safety.files import require_own, require_private

SCHEMA = 4
"""Schema of the files, of the training of the built-in
networks, and of their use of weights.
"""

WEIGHTS = "weights.safetensors"
DESCRIPTION = "model.json"


def key_of(identity: Mapping[str, object]) -> str:
    """SHA-256 of what determines the weights, in hexadecimal."""
    return hashlib.sha256(
        _canonical({**identity, "schema": SCHEMA}).encode(),
    ).hexdigest()


def obtain(
    folder: Path,
    identity: Mapping[str, object],
    network: Network,
    fit: Callable[[], Report],
) -> Report:
    """Load the weights of `network` from `folder`, or train it by `fit` and store them
    there.

    If several processes want one model, one trains and the others wait. A folder that
    cannot be read, is cut short or was altered counts as absent: it is trained again
    and replaced.

    Raises:
        CacheError: If the folder cannot be written, if others may write to it, or if
            its content is foreign.
    """
    key = key_of(identity)
    place, lock_file = folder / key, folder / f"{key}.lock"
    try:
        if folder.exists():
            require_private(folder)
            require_own(place, place / WEIGHTS, place / DESCRIPTION, lock_file)
            # Without the lock: the folder of a complete model may be read-only.
            report = _load(place, identity, network)
            if report is not None:
                return report
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(lock_file, mode=0o600)
        lock.acquire()
    except OSError as error:
        raise CacheError(
            f"trained models cannot be kept in {str(folder)!r}: {error}; name another folder with "
            f"--recsys-cache",
        ) from error
    try:
        report = _load(place, identity, network)
        if report is None:
            report = fit()
            _save(place, identity, network, report)
        return report
    finally:
        lock.release()


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _load(
    place: Path,
    identity: Mapping[str, object],
    network: Network,
) -> Report | None:
    try:
        described = json.loads((place / DESCRIPTION).read_text(encoding="utf-8"))
        packed = (place / WEIGHTS).read_bytes()
        same = _canonical(described["identity"]) == _canonical(identity)
        if not same or described["sha256"] != hashlib.sha256(packed).hexdigest():
            return None
        reported = described["report"]
        report = Report(
            **{
                **reported,
                **{name: tuple(reported[name]) for name in ("rank", "ndcg", "loss")},
            },
        )
        weights = safetensors.torch.load(packed)
    except (OSError, ValueError, KeyError, TypeError, SafetensorError):
        return None
    own = network.state_dict()
    if weights.keys() != own.keys() or any(
        weights[name].shape != own[name].shape for name in own
    ):
        return None
    network.load_state_dict(weights)
    network.eval()
    return report


def _save(
    place: Path,
    identity: Mapping[str, object],
    network: Network,
    report: Report,
) -> None:
    packed = safetensors.torch.save(
        {
            name: value.detach().cpu().contiguous()
            for name, value in network.state_dict().items()
        },
    )
    described = {
        "identity": identity,
        "sha256": hashlib.sha256(packed).hexdigest(),
        "report": dataclasses.asdict(report),
    }
    try:
        with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
            fresh = Path(scratch, "model")
            fresh.mkdir(mode=0o700)
            (fresh / WEIGHTS).write_bytes(packed)
            (fresh / DESCRIPTION).write_text(
                json.dumps(described, indent=1),
                encoding="utf-8",
            )
            shutil.rmtree(place, ignore_errors=True)
            os.replace(fresh, place)
    except OSError as error:
        raise CacheError(
            f"the trained model cannot be kept in {str(place)!r}: {error}; name another folder "
            f"with --recsys-cache",
        ) from error
