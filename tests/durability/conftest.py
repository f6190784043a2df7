from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durability.project import Counting, Project
from tests.models.faults import FaultServer


@pytest.fixture
def counting() -> Iterator[Counting]:
    with FaultServer() as server:
        counting = Counting(server)
        yield counting
        counting.answer_only(None)


@pytest.fixture
def project(tmp_path: Path, counting: Counting) -> Project:
    return Project(tmp_path / "project", counting.server.url)
