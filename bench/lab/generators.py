"""`violet load` beside wrk and h2load: which of them asks more on one core, and with less of it.

All ask the same entry for the same answer, each for as long, each with one thread. Readings are interleaved A B B A, and
each has a server of its own. The processor time is that of the generator's whole process, from wait4(2), over the answers
that it counted, for all of them alike.
"""

import dataclasses
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import threading

from . import load
from .process import LabError, on_core
from .table import Row

OWN = "violet load"
REST_SECONDS = 30
WRK_WRONG = re.compile(r"Non-2xx or 3xx responses: .*|Socket errors: .*")
H2LOAD_COUNTS = re.compile(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout")


@dataclasses.dataclass(frozen=True)
class Duel:
    """The leg that both ask, and who stands against us."""

    leg: load.Leg
    rival: str
    package: str


DUELS = (
    Duel(load.Leg("HTTP/1.1, 64 connections", "get", 64), "wrk", "wrk"),
    Duel(load.Leg("HTTP/2 without TLS, 32 connections, 32 streams", "get", 32, 32, "h2c"), "h2load", "nghttp2-client"),
)


def command_of(name, program, leg, seconds, url):
    connections, time = str(leg.connections), str(seconds)
    if name == "wrk":
        return ["wrk", "-t1", "-c", connections, "-d", time, url]
    if name == "h2load":
        return ["h2load", "-t1", "-c", connections, "-m", str(leg.depth), "-D", time, url]
    streams = ["--h2", "-m", str(leg.depth)] if leg.wire == "h2c" else []
    return [str(program), "load", "-q", "-t", "1", "-c", connections, *streams, "-d", time, "-w", "0", "--json", "-", url]


def of_wrk(text):
    answers, rate = re.search(r"(\d+) requests in", text), re.search(r"Requests/sec:\s+([\d.]+)", text)
    wrong = WRK_WRONG.search(text)
    return int(answers[1]), float(rate[1]), wrong[0] if wrong else ""


def of_h2load(text):
    answers, *wrong = map(int, H2LOAD_COUNTS.search(text).groups())
    rate, good = re.search(r"finished in \S+, ([\d.]+) req/s", text), re.search(r"status codes: (\d+) 2xx", text)
    return answers, float(rate[1]), "" if int(good[1]) == answers and not any(wrong) else H2LOAD_COUNTS.search(text)[0]


def of_ours(text):
    found = json.loads(text)
    good = found["status"]["2xx"] == found["answers"] and not any(found["errors"].values())
    return found["answers"], found["rate"], "" if good else f"{found['status']}, {found['errors']}"


READERS = {OWN: of_ours, "wrk": of_wrk, "h2load": of_h2load}


def answers_of(name, text):
    """(answers, answers a second); where one of them was wrong there is no reading."""
    try:
        answers, rate, wrong = READERS[name](text)
    except (TypeError, AttributeError, ValueError, KeyError) as error:
        raise LabError(f"{name} says something unknown ({error}): {text[-300:]}") from None
    if wrong or not answers:
        raise LabError(f"{name}: {wrong or 'nothing was answered'}")
    return answers, rate


def self_test():
    """What the generators say is read as it is meant, and a wrong answer is seen."""
    wrk = "  3488 requests in 1.06s, 401.94KB read\nRequests/sec:   3276.84\n"
    h2load = "finished in 1.02s, 42.50 req/s, 1KB/s\n43 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 43 2xx, 0 3xx\n"
    ours = '{"answers": 9, "rate": 4.5, "status": {"2xx": 9}, "errors": {"broken": 0}}'
    assert answers_of("wrk", wrk) == (3488, 3276.84)
    assert answers_of("h2load", h2load) == (43, 42.5)
    assert answers_of(OWN, ours) == (9, 4.5)
    wrong = [("wrk", wrk + "Non-2xx or 3xx responses: 3\n"), ("wrk", wrk + "Socket errors: connect 1\n"), ("wrk", "")]
    wrong += [("h2load", h2load.replace(*change)) for change in (("43 2xx", "42 2xx"), ("0 errored", "1 errored"), ("finished", ""))]
    wrong += [(OWN, ours.replace(*change)) for change in (('"2xx": 9', '"2xx": 8'), ('"broken": 0', '"broken": 1'))]
    for name, text in [*wrong, (OWN, "")]:
        try:
            answers_of(name, text)
        except LabError:
            continue
        raise AssertionError(f"{name} was believed: {text}")
    print("generators: what is wrong is not believed")
    return 0


def run_weighed(core, command, timeout):
    """(its output, microseconds of processor time that its process has taken)"""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(on_core(core, command), stdin=subprocess.DEVNULL, stdout=output, stderr=complaints)
        alarm = threading.Timer(timeout, process.kill)
        alarm.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        finally:
            alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        complaints.seek(0)
        text, complaint = output.read().decode(), complaints.read().decode()
    if process.returncode != 0:
        raise LabError(f"{command[0]}: status {process.returncode}: {complaint.strip()[-200:]}")
    return text, 1e6 * (used.ru_utime + used.ru_stime)


def reading(name, arm, program, both, leg, seconds):
    """One generator against a server of its own, which has answered for a moment before."""
    server_core, load_core = both
    with arm.start(server_core) as server:
        url = server.url(arm.target(leg.shape), leg.wire)
        run_weighed(load_core, command_of(OWN, program, leg, load.WARM_SECONDS, url), REST_SECONDS)
        before = sum(server.cpu_us())
        text, cpu_us = run_weighed(load_core, command_of(name, program, leg, seconds, url), seconds + REST_SECONDS)
        busy = (sum(server.cpu_us()) - before) / 1e6 / seconds
    answers, rate = answers_of(name, text)
    return {"rate": rate, "cpu": cpu_us / answers, "busy": cpu_us / 1e6 / seconds, "server": busy}


def duel_rows(readings):
    """Rows of one duel; `readings`: name -> its readings, one for each half round."""
    ours, rival = readings

    def median(key):
        return {name: statistics.median(found[key] for found in got) for name, got in readings.items()}

    def paired(key, over, under):
        pairs = zip(readings[over], readings[under], strict=True)
        return {OWN: statistics.median(mine[key] / other[key] for mine, other in pairs)}

    spread = {name: load.spread([found["cpu"] for found in got]) for name, got in readings.items()}
    return [
        Row("answers a second", median("rate")),
        Row(f"those of {rival} for each of ours, paired", paired("rate", rival, ours), must=1, digits=3, judged=OWN),
        Row("the generator's CPU microseconds an answer", median("cpu"), digits=3),
        Row(f"ours for each of {rival}'s, paired", paired("cpu", ours, rival), must=1, digits=3, judged=OWN),
        Row("largest reading of CPU less the smallest", spread, digits=3),
        Row("generator busy", median("busy"), digits=2),
        Row("server busy", median("server"), digits=2, note="near 1 the server was the limit of both"),
    ]


def measure(arms, build, both, report, rounds, seconds):
    arm, program = arms.get("arena"), build / "violet"
    if arm is None or not program.exists():
        raise LabError(f"{build} has no arena or no violet: nobody asks, or nobody answers")
    for duel in DUELS:
        if not shutil.which(duel.rival):
            print(f"\nnotice: {duel.rival} is not installed ({duel.package}): nothing is measured beside it")
            continue
        names = [OWN, duel.rival]
        readings = {name: [] for name in names}
        for name in load.there_and_back(names, rounds):
            readings[name].append(reading(name, arm, program, both, duel.leg, seconds))
        report.add(f"generators: {duel.leg.title}", duel_rows(readings), names)
