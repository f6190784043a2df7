"""The texts of a project's first files; the longer ones stand in `templates`."""

from __future__ import annotations

from pathlib import Path

CI = {
    "github": ".github/workflows/recsys.yml",
    "gitlab": ".gitlab-ci.yml",
    "jenkins": "Jenkinsfile",
}
"""The file of each system; its template has the system's name."""

SECRETS = {
    "github": "        env:\n          {name}: ${{{{ secrets.{name} }}}}\n",
    "gitlab": "  # Settings > CI/CD > Variables gives the job {name}.\n",
    "jenkins": "  environment {{ {name} = credentials('{name}') }}\n",
}
"""How the job of each system gets a key."""

OWN = {
    "github": "      # - run: pip install -r requirements.txt  # what your recommender needs\n",
    "gitlab": "    # - pip install -r requirements.txt  # what your recommender needs\n",
    "jenkins": "        // sh '.venv/bin/pip install -r requirements.txt'  // what your recommender needs\n",
}
"""The line of each system for what a recommender needs, where the project does not say so yet."""


def template(name: str) -> str:
    """The text of a file, with braces around what `str.format` fills in."""
    return (Path(__file__).parent / "templates" / f"{name}.txt").read_text(encoding="utf-8")
