"""pytester forgets every module that was imported inside
it, and these cannot be imported twice.
"""

import scipy.stats  # noqa: F401

from tests.support.faults_adequacy import judging  # noqa: F401
