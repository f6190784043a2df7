"""Meet every fault alone, and all of them mixed; prints what became of each, as a table
in Markdown.

``python -m tests.hostile [PATTERN]``
"""

import re
import sys
import tempfile
from pathlib import Path

from tests.hostile.faults import BILLED, FAULTS
from tests.hostile.runs import ANSWER, check, check_bill, run
from tests.hostile.server import HostileServer

pattern = sys.argv[1] if len(sys.argv) > 1 else ""
cases = [(name, {name: fault}, 1.0, 10) for name, fault in FAULTS.items()]
cases += [
    (f"all, in {share:.0%} of the calls", FAULTS, share, 100)
    for share in (0.05, 0.2, 0.5)
]
print("| fault | exit | s | MiB | asked | cached | billed | message |")
print("|---|---|---|---|---|---|---|---|", flush=True)
for name, faults, share, users in cases:
    if not re.search(pattern, name):
        continue
    limit = 2 * users * ANSWER
    with (
        tempfile.TemporaryDirectory() as folder,
        HostileServer(faults, share, BILLED) as server,
    ):
        ended = run(server, Path(folder), f"--recsys-max-usd={limit}", users=users)
        wrong = ""
        try:
            check(ended)
            check_bill(server, limit)
        except AssertionError as error:
            wrong = f" **{str(error)[:300]!r}**"
        cells = [name, ended.code, f"{ended.seconds:.1f}", f"{ended.mebibytes:.0f}", server.asked,
                 ended.cached, server.billed, ended.message[:160] + wrong]  # fmt: skip
        print(
            "|",
            " | ".join(str(cell).replace("|", "/") for cell in cells),
            "|",
            flush=True,
        )
