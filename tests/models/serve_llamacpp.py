"""Serve a GGUF file with llama.cpp until standard input
ends; the first line printed is the address.
"""

import importlib
import sys
from typing import Any


def main(model: str, slots: int) -> None:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"smollm2"}
    params.n_ctx = 2048 * slots
    params.n_parallel = slots
    params.cpuparams.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.warmup = False
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
