"""What the server has resident while many connections of HTTP/2 ask for much at once."""

import pathlib

from . import load
from .process import LabError
from .table import Row

MIB = 1 << 20
CONNECTIONS = 1024
# (what is asked, MiB that it must stay within). A connection may hold a batch of 64 KiB that has not been sent, whatever
# the windows of its streams allow.
LEGS = (
    (load.Leg("small answers, 100 streams each", "get", CONNECTIONS, 100, "h2c"), 40),
    (load.Leg("a file of 16 KiB, 32 streams each", "file16", CONNECTIONS, 32, "h2c"), 96),
    (load.Leg("small answers, 100 streams each, TLS", "get", CONNECTIONS, 100, "h2"), 40),
)


def measure(arms, build, report, seconds):
    arm, program = arms.get("arena"), pathlib.Path(build, "violet")
    if arm is None:
        return
    if not program.exists():
        raise LabError(f"{program} is not built: nobody can ask")
    rows = []
    for leg, must in LEGS:
        found = load.reading(arm, program, leg, seconds, asks_first=True)
        if wrong := sum(found["errors"].values()):
            raise LabError(f"{leg.title}: {wrong:,} errors: {found['errors']}")
        rows.append(Row(f"{leg.title}, MiB", {"arena": found["server"]["resident_bytes"] / MIB}, must=must, digits=1))
    report.add(f"resident memory, {CONNECTIONS:,} connections of HTTP/2 under load", rows, ["arena"])
