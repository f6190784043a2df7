"""Computing so that the same question always takes the same steps."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def exactly(on: bool = True) -> Iterator[None]:
    """With one thread and deterministic algorithms, where `on`; as it was, afterwards.

    Sums of floating-point numbers depend on their order, and that on the number of threads and on
    the shapes of the operands (https://docs.pytorch.org/docs/stable/notes/randomness.html). The
    shapes are the caller's: one prompt at a time.
    """
    if not on:
        yield
        return
    import torch

    # cuBLAS reads it when it is first used, and refuses to be deterministic without it.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    threads = torch.get_num_threads()
    strict = torch.are_deterministic_algorithms_enabled()
    precision = torch.get_float32_matmul_precision()
    try:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        torch.set_float32_matmul_precision("highest")
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)
        torch.set_float32_matmul_precision(precision)
