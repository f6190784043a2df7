"""Runs in trackers of experiments, by their own libraries: MLflow, Weights & Biases."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_recsys_mt.report.logged import Logged, logged, settings_of
from pytest_recsys_mt.safety.errors import MissingExtraError, RecsysError
from pytest_recsys_mt.safety.key_forms import (
    bytes_without_forms,
    data_without_forms,
    without_forms,
)
from pytest_recsys_mt.safety.redaction import redact, redact_bytes
from pytest_recsys_mt.safety.sanitize import one_line

PROJECT = "pytest-recsys-mt"
"""The experiment, or the project, that runs belong to unless the environment names
another one.
"""

REASON_LENGTH = 700
"""Characters of an error that are shown, in whole sentences where it has any."""

_USER = re.compile(r"//[^/\s@]+@")
"""The user and the password in an address."""

_QUERY = re.compile(r"(/[^\s?'\"]*)\?[^\s'\"]+")
"""The query of an address, behind its path: a token may be in it."""

TIMEOUT, RETRIES = "MLFLOW_HTTP_REQUEST_TIMEOUT", "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
"""MLflow's variables for the seconds of one attempt, and for the further attempts."""

PATIENCE: Mapping[str, str] = {
    RETRIES: "1",
    TIMEOUT: "7",
    "WANDB_SILENT": "true",
    "WANDB_INIT_TIMEOUT": "60",
}
"""How long a server that does not answer is waited for at the end of a run, unless the
environment says otherwise: MLflow would by itself try for minutes.
"""


class TrackerError(RecsysError):
    """A tracker did not take a run; the text says why."""


def require(names: Sequence[str]) -> None:
    """Check that the libraries of trackers are installed.

    Raises:
        MissingExtraError: If one is not; the text says how to install it.
    """
    for name in names:
        try:
            module = importlib.import_module(name)
            # A folder of this name, as wandb writes one, imports as an empty package.
            if getattr(module, "__file__", None) is None:
                raise ImportError(f"No module named {name!r}")
        except ImportError as error:
            raise MissingExtraError(
                f"{name} is not installed ({error}); install it with: pip install 'pytest-recsys-mt[{name}]'",
            ) from error


def waits(name: str) -> str:
    """How long the server of a tracker is waited for before a run counts as not logged,
    in words; empty where no server is asked, or its limit is not known.
    """
    address = os.environ.get("MLFLOW_TRACKING_URI", "").strip()
    if name != "mlflow" or not address.startswith(("http://", "https://")):
        return ""
    timeout, retries = (
        os.environ.get(variable, PATIENCE[variable]) for variable in (TIMEOUT, RETRIES)
    )
    try:
        most = float(timeout) * (1 + int(retries))
    except ValueError:  # MLflow says what is wrong with it
        return ""
    server = _plain_addresses(redact(address))
    return f"logging the run with mlflow at {server}: a server that does not answer is waited for about {most:.0f} s ({TIMEOUT}, {RETRIES})"


def send(name: str, document: Mapping[str, Any], files: Sequence[Path] = ()) -> str:
    """Log a run; returns where it is.

    Args:
        name: The tracker: ``mlflow`` or ``wandb``.
        document: The record.
        files: Files of the run to store beside the record, such as the page.

    Raises:
        MissingExtraError: If its library is not installed.
        TrackerError: If it does not take the run.
    """
    require([name])
    document = data_without_forms(document)
    with (
        _patient(),
        tempfile.TemporaryDirectory(prefix="recsys-mt-log-") as folder,
    ):
        copies = _without_keys(document, files, Path(folder))
        try:
            return TRACKERS[name](document, logged(document), copies)
        except Exception as error:  # noqa: BLE001 - a library may raise anything
            said, missing = _reason(error), _missing(name)
            said = f"{said.removesuffix('.')}; {missing}" if missing else said
            raise TrackerError(f"{name} did not take it: {said}") from None


def _missing(name: str) -> str:
    """What to install for a store in a local file, which mlflow-skinny alone has not."""
    address = os.environ.get("MLFLOW_TRACKING_URI", "")
    if name != "mlflow" or address.startswith(("http://", "https://")):
        return ""
    lacks = [
        module
        for module in ("sqlalchemy", "alembic")
        if importlib.util.find_spec(module) is None
    ]
    if not lacks:
        return ""
    return (
        f"a store in a local file needs {' and '.join(lacks)}, which mlflow-skinny does not bring: "
        f"pip install 'pytest-recsys-mt[mlflow]'"
    )


def _reason(error: Exception) -> str:
    """What a library says of its failure: the first whole sentences, without keys, and
    of an address only what names the server.
    """
    said = without_forms(redact(f"{type(error).__name__}: {one_line(str(error))}"))
    said = _plain_addresses(said)
    if len(said) <= REASON_LENGTH:
        return said
    cut = said[:REASON_LENGTH]
    end = max(cut.rfind(mark) for mark in (". ", "! ", "; "))
    return f"{cut[: end + 1] if end > 0 else cut} [...]"


def _plain_addresses(text: str) -> str:
    """A text whose addresses have neither users nor queries."""
    return _QUERY.sub(r"\1", _USER.sub("//", text))


@contextlib.contextmanager
def _patient() -> Iterator[None]:
    """Within it, no server is waited for longer than `PATIENCE`."""
    added = [name for name in PATIENCE if name not in os.environ]
    os.environ.update({name: PATIENCE[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _without_keys(
    document: Mapping[str, Any],
    files: Sequence[Path],
    folder: Path,
) -> list[Path]:
    """Copies of the files of a run without keys; the record is made if none is given."""
    copies = []
    for file in files:
        copy = folder / file.name
        copy.write_bytes(bytes_without_forms(redact_bytes(file.read_bytes())))
        copies.append(copy)
    if not any(copy.suffix == ".json" for copy in copies):
        record = folder / "record.json"
        text = json.dumps(document, ensure_ascii=False, default=dict)
        record.write_text(redact(text), encoding="utf-8")
        copies.append(record)
    return copies


def _to_mlflow(
    document: Mapping[str, Any],
    models: Sequence[Logged],
    files: Sequence[Path],
) -> str:
    """Log one MLflow run for the whole run, with the files, and one below it for each
    model.
    """
    client = importlib.import_module("mlflow").MlflowClient()
    experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
    known = client.get_experiment_by_name(experiment)
    place = (
        client.create_experiment(experiment) if known is None else known.experiment_id
    )
    gate, started = document["gate"]["status"], document["time"]["started"]
    whole = client.create_run(
        place,
        run_name=f"recsys-mt {started}",
        tags={"recsys_mt.gate": gate, "recsys_mt.started": started},
    )
    run_id: str = whole.info.run_id
    for name, value in settings_of(document).items():
        client.log_param(run_id, name, value)
    for file in files:
        client.log_artifact(run_id, str(file))
    for model in models:
        _below(client, place, run_id, model)
    client.set_terminated(run_id, "FINISHED" if gate == "passed" else "FAILED")
    return f"mlflow run {run_id} of experiment {experiment!r}"


MOST_METRICS = 1_000
MOST_TAGS = 100
"""How many metrics and tags MLflow takes at a time."""


def _below(client: Any, place: str, parent: str, model: Logged) -> None:
    """Log the MLflow run of one model."""
    entities = importlib.import_module("mlflow.entities")
    tags = {"mlflow.parentRunId": parent, "recsys_mt.model": model.model}
    run_id = client.create_run(place, run_name=model.model, tags=tags).info.run_id
    now = int(time.time() * 1000)
    metrics = [
        entities.Metric(name, value, now, 0) for name, value in model.numbers.items()
    ]
    for name, points in model.curves.items():
        # A step is a whole number; the points themselves are in `curves.json`.
        metrics += [
            entities.Metric(name, value, now, step)
            for step, (_, value) in enumerate(points)
        ]
    words = [entities.RunTag(name, value) for name, value in model.words.items()]
    for start in range(0, len(metrics), MOST_METRICS):
        client.log_batch(run_id, metrics=metrics[start : start + MOST_METRICS])
    for start in range(0, len(words), MOST_TAGS):
        client.log_batch(run_id, tags=words[start : start + MOST_TAGS])
    if model.curves:
        client.log_text(run_id, json.dumps(model.curves), "curves.json")
    client.set_terminated(run_id)


def _to_wandb(
    document: Mapping[str, Any],
    models: Sequence[Logged],
    files: Sequence[Path],
) -> str:
    """Log one run of Weights & Biases for each model, in one group, each with the files;
    offline unless WANDB_MODE says otherwise.
    """
    wandb: Any = importlib.import_module("wandb")
    mode = os.environ.get("WANDB_MODE") or "offline"
    project = os.environ.get("WANDB_PROJECT") or PROJECT
    group = f"recsys-mt {document['time']['started']}"
    folders = []
    for model in models:
        run: Any = wandb.init(
            project=project,
            group=group,
            name=model.model,
            mode=mode,
            config=settings_of(document),
            tags=[f"gate {document['gate']['status']}"],
            reinit="create_new",
        )
        run.summary.update({**model.numbers, **model.words})
        for name, points in model.curves.items():
            table = wandb.Table(columns=["x", "value"], data=[list(p) for p in points])
            run.log({name: table})
        artifact = wandb.Artifact("recsys-mt", type="record")
        for file in files:
            artifact.add_file(str(file))
        run.log_artifact(artifact)
        folders.append(str(Path(run.dir).parent))
        run.finish()
    sent = (
        "" if mode != "offline" else f"; send them with: wandb sync {' '.join(folders)}"
    )
    return f"wandb project {project!r}, {len(folders)} runs ({mode}){sent}"


Send = Callable[[Mapping[str, Any], Sequence[Logged], Sequence[Path]], str]

TRACKERS: Mapping[str, Send] = {"mlflow": _to_mlflow, "wandb": _to_wandb}
"""How a run is logged, by the name of the tracker and of its library."""
