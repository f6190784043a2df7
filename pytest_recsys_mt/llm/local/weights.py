"""The files of a local model: a digest of their content, and conversion from GGUF to a folder."""

import hashlib
import importlib.metadata
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.files import cache_folder_for, written_whole

_CONTENT = {".safetensors", ".gguf", ".json", ".jinja", ".model", ".txt", ".py"}
"""Endings of the files of a model folder that affect its answers."""

_REMEMBERED = 1 << 24  # the digest of a file of at least this many bytes is stored on disk


def digest(path: Path) -> str:
    """SHA-256 of the content of a file, or of the files of a model folder and their names.

    The digest of a large file is stored, and is valid while its path, size and modification time
    (in ns) stay the same.
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
    """The model of a GGUF file as a folder of float32 safetensors, which loads ten times faster.

    It is converted once per machine, with four bytes per parameter; other processes wait.
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
                        f"'openai:NAME'"
                    ) from error
                # The folder appears completely or not at all.
                os.replace(Path(scratch, "model"), folder)
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: Any = {"gguf_file": gguf.name, "local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **where)
    model: Any = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **where)
    # The weights are plain numbers now, but transformers would still refuse to save them.
    model.hf_quantizer = model.quantization_method = None
    model.is_quantized = False
    del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
