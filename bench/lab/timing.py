"""CPU time a request, arms interleaved A B C C B A, each reading with a server of its own, compared within a half round."""

import json
import pathlib
import re
import shutil
import statistics

from .process import LabError, run_on
from .table import Row

REFERENCE = "limit_libuv"
# Name, shape, connections, depth, what limits: the ratio to the reference, or microseconds.
LEGS = (
    ("c=64", "get", 64, 1, "ratio", 1.04, 1.02),
    ("c=512", "get", 512, 1, "ratio", 1.04, 1.02),
    ("16 pipelined, c=64", "pipelined", 64, 16, "time", 0.50, 0.45),
)


def generate(arm, server, build, core, leg, seconds):
    """(2xx answers, a description of errors)"""
    _, shape, connections, depth, *_ = leg
    url = server.url(arm.target(shape))
    if depth > 1:
        command = [str(pathlib.Path(build, "pipeline_load")), "-c", str(connections), "-d", str(depth), "-s", str(seconds), url]
        answer = json.loads(run_on(core, command, seconds + 30))
        bad = answer["wrong"] + answer["failed"]
        return answer["requests"], f"{bad} wrong or failed" if bad else ""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--timeout", "10", url]
    text = run_on(core, command, seconds + 30)
    total = re.search(r"(\d+) requests in", text)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    errors = re.search(r"Socket errors: (.*)", text)
    count = (int(total[1]) if total else 0) - (int(refused[1]) if refused else 0)
    return count, "; ".join(found[0] for found in (refused, errors) if found)


def reading(arm, build, cores, leg, seconds):
    server_core, load_core = cores
    with arm.start(server_core) as server:
        generate(arm, server, build, load_core, leg, 1)
        user, system = server.cpu_us()
        count, errors = generate(arm, server, build, load_core, leg, seconds)
        user_after, system_after = server.cpu_us()
    if count == 0:
        raise LabError(f"{arm.name}, {leg[0]}: no request was answered: {errors}")
    user, system = user_after - user, system_after - system
    return {
        "cpu": (user + system) / count,
        "user": user / count,
        "system": system / count,
        "rps": count / seconds,
        "busy": (user + system) / 1e6 / seconds,
        "errors": errors,
    }


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def one_leg(leg, arms, build, cores, rounds, seconds):
    """arm -> its readings, one for each half round."""
    readings = {name: [] for name in arms}
    order = list(arms)
    for half in range(2 * rounds):
        for name in order if half % 2 == 0 else reversed(order):
            readings[name].append(reading(arms[name], build, cores, leg, seconds))
    return readings


def without_broken_peers(arms, core):
    """A peer that does not start here is no reason to measure nothing."""
    kept = {}
    for name, arm in arms.items():
        try:
            if arm.is_peer:
                with arm.start(core):
                    pass
            kept[name] = arm
        except LabError as error:
            print(f"notice: {name} is left out: {error}")
    return kept


def measure(arms, build, cores, report, rounds, seconds):
    if not shutil.which("wrk"):
        print("\nnotice: wrk is not installed: no timed legs")
        return
    if REFERENCE not in arms:
        raise LabError(f"{REFERENCE} is needed as what others are compared with")
    arms = without_broken_peers(arms, cores[0])
    print(f"\ntimed legs: {rounds} rounds there and back, {seconds} s each, server on core {cores[0]}, load on core {cores[1]}")
    for leg in LEGS:
        takes_part = {name: arm for name, arm in arms.items() if arm.can(leg[1])}
        readings = one_leg(leg, takes_part, build, cores, rounds, seconds)
        median = lambda key: {name: statistics.median(r[key] for r in got) for name, got in readings.items()}  # noqa: B023,E731
        ratios = {}
        for name, got in readings.items():
            pairs = zip(got, readings[REFERENCE], strict=True)
            ratios[name] = [mine["cpu"] / other["cpu"] for mine, other in pairs]
        errors = {name: next((r["errors"] for r in got if r["errors"]), "") for name, got in readings.items()}
        by_ratio = leg[4] == "ratio"
        limits = {"must": leg[5], "aim": leg[6]}
        report.add(
            f"{leg[0]}: CPU microseconds a request",
            [
                Row("user + system", median("cpu"), digits=3, **({} if by_ratio else limits)),
                Row("user", median("user"), digits=3),
                Row("system", median("system"), digits=3),
                Row("ratio to limit_libuv, paired", {n: statistics.median(r) for n, r in ratios.items()}, digits=3,
                    **(limits if by_ratio else {})),
                Row("spread of the ratio, %", {n: 100 * spread(r) for n, r in ratios.items()}, digits=1),
                Row("spread of user + system, %", {n: 100 * spread([r["cpu"] for r in got]) for n, got in readings.items()},
                    digits=1),
                Row("requests a second", median("rps")),
                Row("server busy", median("busy"), digits=2, note="below 0.9 the generator was the limit"),
            ],
            list(takes_part),
        )  # fmt: skip
        for name, text in errors.items():
            if text:
                print(f"  {name}: {text}")
