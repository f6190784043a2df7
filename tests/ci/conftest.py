from collections.abc import Iterator

import pytest

from tests.ci.github import GitHub, served


@pytest.fixture
def github() -> Iterator[GitHub]:
    with served() as github:
        yield github
