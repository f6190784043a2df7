"""Computing in the same steps for the same question."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def exactly(on: bool = True) -> Iterator[None]:
    """Use one thread and deterministic algorithms if `on`; restore the settings afterwards.

    Sums of floating-point numbers depend on their order, which depends on the number of threads and
    on the shapes of the operands (https://docs.pytorch.org/docs/stable/notes/randomness.html).
    """
    if not on:
        yield
        return
    import torch

    # cuBLAS reads this at its first use, and is not deterministic without it.
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
