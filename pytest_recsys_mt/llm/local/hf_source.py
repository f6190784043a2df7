"""The source of a model of transformers: a folder, a
GGUF file, or the Hugging Face Hub.
"""

import hashlib
import importlib
import importlib.metadata
import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pytest_recsys_mt.safety.errors import MissingExtraError, RecommenderError
from pytest_recsys_mt.safety.files import cache_folder_for, expanded, written_whole
from pytest_recsys_mt.safety.sanitize import one_line

_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"([\w.-]+(?:/[\w.-]+)?)(?:@([\w./-]+))?")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model in local files, identified by their content, not their path."""

    path: Path

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self.path.name

    @property
    def identity(self) -> dict[str, str]:
        """The values that distinguish it from every other model."""
        return {"id": self.path.name, "sha256": digest(self.path)}

    def arguments(self) -> dict[str, Any]:
        """Arguments for ``from_pretrained``; a GGUF file is
        converted first, once per machine.
        """
        folder = self.path
        if not folder.is_dir():
            with quietly():
                folder = plain_folder(folder)
        return {"pretrained_model_name_or_path": str(folder), "local_files_only": True}

    def check_code(self) -> None:
        """Check that all code of the model lies in its folder."""
        _refuse_foreign_code(self.name, [self.path / name for name in _NAMING_CODE])


@dataclass(frozen=True)
class HubModel:
    """A model of the Hugging Face Hub, identified by its commit.

    A revision in the local cache is used as it is there: ``main`` moves when the cache
    does.
    """

    id: str
    revision: str = "main"

    @property
    def name(self) -> str:
        """Its name in reports."""
        return self.id if self.revision == "main" else f"{self.id}@{self.revision}"

    @property
    def identity(self) -> dict[str, str]:
        """The values that distinguish it from every other model."""
        return {"id": self.id, "revision": self.commit}

    def arguments(self) -> dict[str, Any]:
        """Arguments for ``from_pretrained``."""
        return {"pretrained_model_name_or_path": self.id, "revision": self.commit}

    def check_code(self) -> None:
        """Check that all code of the model belongs to its own commit."""
        library()
        from huggingface_hub.errors import EntryNotFoundError

        files = []
        for name in _NAMING_CODE:
            try:
                files.append(self._file(name, self.commit))
            except EntryNotFoundError:
                continue
            except (OSError, ValueError) as error:
                raise RecommenderError(
                    f"hf:{self.name}: {name} cannot be read, so the source of its code is unknown: "
                    f"{one_line(str(error))[:200]}",
                ) from error
        _refuse_foreign_code(self.name, files)

    @cached_property
    def commit(self) -> str:
        """The full commit hash; RecommenderError if the revision
        is neither in the cache nor on the Hub.
        """
        library()
        try:
            config = self._file("config.json", self.revision)
        except (OSError, ValueError) as error:
            raise RecommenderError(
                f"hf:{self.name} is neither a file or folder here nor a model that can be had from "
                f"the Hugging Face Hub: {one_line(str(error))[:200]}",
            ) from error
        # The cache stores each commit in a folder of its name.
        return config.parent.name

    def _file(self, name: str, revision: str) -> Path:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import LocalEntryNotFoundError

        fetch = partial(hf_hub_download, self.id, name, revision=revision)
        try:
            return Path(fetch(local_files_only=True))
        except LocalEntryNotFoundError:
            return Path(fetch())


_NAMING_CODE = ("config.json", "tokenizer_config.json")
"""Files of a model that may name Python classes, as ``auto_map``."""


def _refuse_foreign_code(name: str, files: Sequence[Path]) -> None:
    for file in files:
        if not file.is_file():
            continue
        try:
            named = json.loads(file.read_text(encoding="utf-8")).get("auto_map") or {}
        except (ValueError, AttributeError, RecursionError) as error:
            raise RecommenderError(
                f"hf:{name}: {file.name} is not a JSON object",
            ) from error
        if "--" in json.dumps(named):
            raise RecommenderError(
                f"hf:{name}: {file.name} names code of another repository ({named!r}), of which no "
                f"commit is fixed; copy the model and that code into one folder, and name that",
            )


def find(model: str, *, trust_remote_code: bool = False) -> LocalModel | HubModel:
    """The source of a folder, a ``.gguf`` file or ``ID[@REVISION]``; reads and
    downloads nothing yet.

    The content of a local folder identifies the code in it. On the Hub only a full
    commit hash fixes it.

    Raises:
        RecommenderError: If the name can be neither a path nor a name of the Hub, or if
            the trusted code may change.
    """
    path = expanded(model)
    if trust_remote_code and path.suffix == ".gguf":
        raise RecommenderError(
            f"hf:{model}: a GGUF file holds no code; leave trust_remote_code out",
        )
    if path.is_dir() or (path.suffix == ".gguf" and path.is_file()):
        return LocalModel(path.resolve())
    if path.exists():
        raise RecommenderError(
            f"hf:{model} is neither a folder nor a .gguf file; other weights go into a folder with "
            f"config.json and a tokenizer",
        )
    match = _HUB_ID.fullmatch(model)
    if match is None or path.suffix == ".gguf" or model.startswith("."):
        raise RecommenderError(
            f"hf:{model} does not exist: name a folder, a .gguf file, or a model of the Hugging Face "
            f"Hub as ORGANISATION/NAME[@REVISION]",
        )
    revision = match[2] or "main"
    if trust_remote_code and not _COMMIT.fullmatch(revision):
        raise RecommenderError(
            f"hf:{model}: trust_remote_code runs Python code from the Hub, and {revision!r} may be "
            f"other code tomorrow; name the commit whose code you read by its full hash of 40 "
            f"characters: hf:{match[1]}@HASH?trust_remote_code=true",
        )
    return HubModel(match[1], revision)


def library() -> Any:
    """The library transformers."""
    try:
        importlib.import_module("torch")
        return importlib.import_module("transformers")
    except ImportError as error:
        raise missing(error) from error


def missing(error: ImportError) -> MissingExtraError:
    """The error that says how to install the missing package of an import."""
    return MissingExtraError(
        f"local models need {error.name or 'more packages'}: {one_line(str(error))[:200]}; install "
        f"PyTorch first, in the build for your machine (https://pytorch.org/get-started), then: "
        f"pip install 'pytest-recsys-mt[hf]'",
    )


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress the progress bars and the warnings of transformers."""
    logging = library().utils.logging
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if bars:
            logging.enable_progress_bar()


_CONTENT = {".safetensors", ".gguf", ".json", ".jinja", ".model", ".txt", ".py"}
"""Endings of the files of a model folder that affect its answers."""

_REMEMBERED = (
    1 << 24
)  # the digest of a file of at least this many bytes is stored on disk


def digest(path: Path) -> str:
    """SHA-256 of the content of a file, or of the files of a model folder and their
    names.

    The digest of a large file is stored, and is valid while its path, size and
    modification time (in ns) stay the same.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in _CONTENT)
        content = json.dumps([[file.name, digest(file)] for file in files])
        return hashlib.sha256(content.encode()).hexdigest()
    state = path.stat()
    if state.st_size < _REMEMBERED:
        return _digest_file(path)
    where = str(path.resolve())
    stamp = [where, state.st_size, state.st_mtime_ns]
    name = hashlib.sha256(where.encode()).hexdigest()[:32]
    memo = cache_folder_for("digests") / f"{name}.json"
    try:
        *kept, known = json.loads(memo.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        kept, known = [], None
    if kept != stamp or not isinstance(known, str):
        known = _digest_file(path)
        with written_whole(memo) as file:
            json.dump([*stamp, known], file)
    return known


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plain_folder(gguf: Path, cache: Path | None = None) -> Path:
    """The model of a GGUF file as a folder of float32 safetensors, which loads ten
    times faster.

    It is converted once per machine, with four bytes per parameter; other processes
    wait.
    """
    from filelock import FileLock

    cache = cache_folder_for("gguf") if cache is None else cache
    version = importlib.metadata.version("transformers")
    folder = cache / f"{gguf.stem}-{digest(gguf)[:16]}-transformers-{version}"
    if folder.is_dir():
        return folder
    with FileLock(folder.with_name(f"{folder.name}.lock"), mode=0o600):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                try:
                    _convert(gguf, Path(scratch, "model"))
                except (ValueError, KeyError, NotImplementedError, OSError) as error:
                    raise RecommenderError(
                        f"{str(gguf)!r} cannot be converted: {error}; transformers reads only some "
                        f"architectures from GGUF, and the others need a llama.cpp server and "
                        f"'openai:NAME'",
                    ) from error
                # The folder appears completely or not at all.
                os.replace(Path(scratch, "model"), folder)
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: Any = {
        "gguf_file": gguf.name,
        "local_files_only": True,
        "trust_remote_code": False,
    }
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **where)
    model: Any = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        dtype=torch.float32,
        **where,
    )
    # The weights are plain numbers now, but transformers would still refuse to save
    # them.
    model.hf_quantizer = model.quantization_method = None
    model.is_quantized = False
    del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
