"""In none of many ways do keys of a user's own recommender get into what a run writes."""

import contextlib
import io
import subprocess
import sys

import pytest

from tests.durability import leaking
from tests.durability.project import Project
from tests.durability.test_secrets import files_of, leaks
from tests.models.faults import FaultServer, Reply
from tests.support.cli import main

pytestmark = pytest.mark.slow  # seven runs of two dozen recommenders

COMMANDS = {
    "cache export": ("cache", "export", "answers.jsonl", "--cache", "cache"),
    "cache stats": ("cache", "stats", "--cache", "cache"),
    "report": ("report", "record.json", "-o", "again.html"),
    "view": ("view", "record.json", "replayed.json", "-o", "view.html"),
    "compare": ("compare", "record.json", "replayed.json"),
    "leaderboard": ("leaderboard", "record.json"),
    "monitor": ("monitor", "record.json", "replayed.json"),
    "comment": ("comment", "record.json"),
    "runs": ("runs",),
}
CHANNELS = {
    "standard output": "stdout of the run",
    "standard error": "stderr of the run",
    "terminal summary": "summary of the run",
    "record": "record.json",
    "kept run": ".recsys/",
    "JUnit": "junit.xml",
    "HTML": "run.html",
    "cache": "cache/",
    "exports": "recsys-mt",
    "gate": "stdout with a baseline",
    "replay": "stdout of the replay",
    "log": "log.txt",
}
"""How the name of what was written begins, by channel."""


def run(
    project: Project,
    name: str,
    *options: str,
    ends: tuple[int, ...] = (0, 1),
    **environment: str,
) -> dict[str, bytes]:
    """What a run prints."""
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-vv", "-rA", "--showlocals", "--tb=long", "--log-level=DEBUG",
            "--recsys-users=4", "--recsys-cache=cache", "--continue-on-collection-errors", *options,
        ],
        cwd=project.folder, env=project.environment | environment, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode in ends, (done.stdout + done.stderr).decode()
    _, _, summary = done.stdout.rpartition(b"short test summary")
    return {
        f"stdout {name}": done.stdout,
        f"stderr {name}": done.stderr,
        f"summary {name}": summary,
    }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """All that runs of the project write, by its name."""
    with FaultServer() as server:
        server.answer = leaking.says
        server.get = lambda: Reply({"version": f"1 {leaking.KEYS['header']}"})
        origin = server.url.removesuffix("/v1")
        project = Project(tmp_path_factory.mktemp("secrets") / "project", server.url)
        project.environment |= leaking.ENVIRONMENT | {"RECSYS_HTTP_ORIGIN": origin}
        project.environment["GITHUB_STEP_SUMMARY"] = "step.md"
        for name, text in {
            "own.py": leaking.OWN,
            "test_it.py": leaking.TESTS,
            "test_named.py": leaking.NAMED,
            "test_broken.py": leaking.BROKEN,
            "conftest.py": leaking.CONFTEST,
            ".env": f"VAULT_TOKEN={leaking.KEYS['dotenv']}\n",
        }.items():
            (project.folder / name).write_text(text)
        models = [f"own.py:{each}" for each in leaking.CLASSES]
        models += [f"{origin}/api?max_wait=0", "openai:tiny?max_wait=0"]
        asked = [
            *(f"--recsys-model={model}" for model in models),
            "test_it.py",
            "test_broken.py",
        ]
        texts = run(
            project, "of the run", *asked, "--recsys-json=record.json", "--junitxml=junit.xml",
            "-ojunit_logging=all", "--recsys-html=run.html", "--log-file=log.txt", "--log-file-level=DEBUG",
        )  # fmt: skip
        texts |= run(
            project,
            "of the replay",
            *asked,
            "--recsys-mode=replay",
            "--recsys-json=replayed.json",
        )
        texts |= run(project, "of two workers", *asked, "-n2", "--junitxml=workers.xml")
        fixtures = ("test_named.py", "--recsys-users=20")
        texts |= run(project, "of fixtures", *fixtures, "--recsys-json=fixtures.json")
        texts |= run(
            project,
            "with a baseline",
            *fixtures,
            "--recsys-baseline=fixtures.json",
        )
        texts |= run(project, "that gives up", *asked, ends=(3,), GIVES_UP="1")
        spec = f"--recsys-model=own.py:make?model={leaking.KEYS['spec']}"
        texts |= run(project, "of a spec", spec, ends=(4,))
    for name, arguments in COMMANDS.items():
        told = io.StringIO()
        with (
            contextlib.chdir(project.folder),
            contextlib.redirect_stdout(told),
            contextlib.redirect_stderr(told),
            contextlib.suppress(SystemExit),
        ):
            main(list(arguments))
        assert told.getvalue() or name in ("report", "view"), name
        texts[f"recsys-mt {name}"] = told.getvalue().encode()
    files = files_of(project.folder)
    del files[".env"]
    return texts | files | {f"the name of {name}": name.encode() for name in files}


def test_every_channel_was_written(written: dict[str, bytes]) -> None:
    silent = [
        channel
        for channel, start in CHANNELS.items()
        if channel != "standard error"
        and not any(text for name, text in written.items() if name.startswith(start))
    ]
    assert silent == []


@pytest.mark.parametrize("scenario", leaking.SECRETS)
def test_no_key_is_written(written: dict[str, bytes], scenario: str) -> None:
    assert leaks(written, *leaking.SECRETS[scenario]) == []
    variable = leaking.VARIABLES[scenario].encode()
    told = [name for name, text in written.items() if b"[" + variable + b"]" in text]
    assert told, "the key was told, and its variable stands in its place"
