"""/delay/10 with many connections held: how late the answers are, and that none is early."""

import json
import pathlib

from .process import run_on
from .table import Row

DELAY_MS = 10


def measure(arms, build, cores, report, connections, rate, seconds):
    arm = arms.get("arena")
    if arm is None:
        return
    server_core, load_core = cores
    with arm.start(server_core) as server:
        command = [str(pathlib.Path(build, "delay_load")), "-c", str(connections), "-m", str(DELAY_MS), "-r", str(rate)]
        before = sum(server.cpu_us())
        text = run_on(load_core, [*command, "-s", str(seconds), server.url(f"/delay/{DELAY_MS}")], seconds + 120)
        got = json.loads(text)
        cpu = (sum(server.cpu_us()) - before) / max(1, got["answers"])
    late = lambda key: {"arena": got[key] / 1000}  # noqa: E731
    report.add(
        f"/delay/{DELAY_MS}, {connections:,} connections held, {rate:,} requests a second for {seconds} s: late by",
        [
            Row("median, ms", late("p50"), must=2, digits=2),
            Row("90 %, ms", late("p90"), digits=2),
            Row("99 %, ms", late("p99"), digits=2),
            Row("99.9 %, ms", late("p999"), digits=2),
            Row("latest, ms", late("most"), digits=2),
            Row("least late, ms", late("least"), digits=2),
            Row("early", {"arena": got["early"]}, must=0),
            Row("wrong or failed", {"arena": got["wrong"] + got["failed"]}, must=0),
            Row("skipped: the connection was busy", {"arena": got["skipped"]}),
            Row("answers a second", {"arena": got["rps"]}),
            Row("CPU us a request, connecting within", {"arena": cpu}, digits=2),
        ],
        ["arena"],
    )
