"""The texts of a project's first files."""

from __future__ import annotations

CONFTEST = '''\
"""What all tests here share.

pytest.ini names the recommender (recsys_model). To make it yourself, with arguments or a connection, take that line
out and define a fixture in its place:

    import pytest
    from shop import Ranker

    @pytest.fixture(scope="session")
    def recommender():
        return Ranker("model.bin")
"""
'''

INI = """\
[pytest]
# What a run asks. Each line is the default of an option: recsys_users of --recsys-users.
{lines}
"""

POLICY = """\
# The rules of the release gate. While this file exists, a run asks all of its --recsys-users (200, if nothing else is
# said) and stops no verdict earlier, so that its record can be the baseline of a later one:
# pytest --recsys-json=baseline.json, and then pytest --recsys-baseline=baseline.json.

[gate]
# How much worse than in the baseline a mean may be.
margin = 0.1

# A violation that you know of and accept for a while:
# [[known]]
# relation = "scale_ratings(2)"
# until = 2030-12-31
# reason = "fixed with the next model"
"""

TEST = '''\
"""Promises that {model} must keep. No answer is right or wrong by itself: two answers are compared."""

from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import {relation}


@metamorphic({call})
def test_{name}(source, followup):
    """{promise}"""
    assert same_ranking(source, followup, similarity="rbo", margin={margin})
'''

GITHUB = """\
name: recommender
on: [push]
permissions:
  contents: read
jobs:
  promises:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
{own}      - run: pip install {package}
      - run: {command}
{environment}      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: recsys
          path: |
            junit.xml
            recsys.json
"""

GITLAB = """\
promises:
  image: python:3.12
  script:
{own}    - pip install {package}
    - {command}
{environment}  artifacts:
    when: always
    paths: [recsys.json]
    reports:
      junit: junit.xml
"""

JENKINS = """\
pipeline {{
  agent {{ docker {{ image 'python:3.12' }} }}
{environment}  stages {{
    stage('promises') {{
      steps {{
        sh 'python -m venv .venv && .venv/bin/pip install {package}'
{own}        sh '.venv/bin/{command}'
      }}
    }}
  }}
  post {{
    always {{
      junit 'junit.xml'
      archiveArtifacts artifacts: 'recsys.json'
    }}
  }}
}}
"""

CI = {
    "github": (".github/workflows/recsys.yml", GITHUB),
    "gitlab": (".gitlab-ci.yml", GITLAB),
    "jenkins": ("Jenkinsfile", JENKINS),
}
"""The file of each system, and its text."""

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
