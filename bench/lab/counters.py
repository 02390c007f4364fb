"""Counters that do not depend on the hour: instructions, heap calls and system calls a request."""

import dataclasses
import json
import pathlib
import re
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import time

from .client import Lockstep, get, post, post_chunked
from .process import LabError, run_on
from .table import Row

CALLGRIND_SECONDS_MAX = 120


# What is counted: name, the arm's shape, the request, connections, depth, must, aim.
def cases(arm):
    target = arm.target
    return (
        ("GET, 8 connections", "get", get(target("get")), 8, 1, 2200, 1600),
        ("GET, 1 connection", "get", get(target("get")), 1, 1, None, None),
        ("GET, 16 pipelined", "get", get(target("get")), 8, 16, 1500, 1000),
        ("POST with a length", "post", post(target("post")), 8, 1, None, None),
        ("POST in chunks", "post", post_chunked(target("post")), 8, 1, None, None),
        ("GET /delay/0 (coroutine)", "delay0", get(target("delay0")), 8, 1, None, None),
    )


def applicable(arm):
    """The limit servers find the end of a head only: bodies and waits are not for them."""
    return [case for case in cases(arm) if arm.targets or case[1] == "get"]


def rows_of(results, digits, must=True):
    """Turns arm -> case -> value into rows, in the order of the cases."""
    rows = {}
    for arm, values in results.items():
        for case, value, note in values:
            row = rows.setdefault(case[0], Row(case[0], {}, digits=digits))
            row.values[arm] = value
            if must and case[5] is not None:
                row.must, row.aim = case[5], case[6]
            if note:
                row.note = f"{row.note}; {note}" if row.note else note
    return list(rows.values())


# --- user instructions, by callgrind


def callgrind_total(folder):
    """The instructions of the newest dump in `folder`, which is then emptied."""
    totals = []
    for path in folder.glob("out*"):
        found = re.findall(r"^(?:totals|summary): (\d+)", path.read_text(errors="replace"), re.MULTILINE)
        totals += [int(text) for text in found]
        path.unlink()
    if not totals:
        raise LabError("callgrind has written no totals")
    return max(totals)


def control(pid, *words):
    done = subprocess.run(["callgrind_control", *words, str(pid)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise LabError(f"callgrind_control {' '.join(words)}: {(done.stderr or done.stdout).strip()[-200:]}")


def without_debug_information(arm, folder):
    """The same arm as a copy that valgrind can load: it gives up on some of what newer compilers write."""
    copy = folder / pathlib.Path(arm.command[0]).name
    subprocess.run(["strip", "--strip-debug", "-o", str(copy), arm.command[0]], check=True, timeout=60)
    return dataclasses.replace(arm, command=[str(copy), *arm.command[1:]])


def print_profile(folder, case, answered):
    """The functions of the newest dump that cost most, in instructions a request."""
    dump = max(folder.glob("out*"), key=lambda path: path.stat().st_size)
    command = ["callgrind_annotate", "--threshold=95", "--auto=no", str(dump)]
    text = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    print(f"\nwhere the instructions of {case[0]} go")
    for count, name in re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+\S*?:(\S.*)$", text, re.MULTILINE):
        name = re.sub(r" \[\S+\]$", "", name)
        print(f"  {int(count.replace(',', '')) / answered:>8.1f}  {name[:110]}")


def instructions(arm, core, requests, with_profile=False):
    """Of each case the readings of two runs; a first one, in which code is translated and linked, is dropped."""
    results = []
    with tempfile.TemporaryDirectory(prefix="violet-bench-callgrind-") as name:
        folder = pathlib.Path(name)
        prefix = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out"]
        copy = without_debug_information(arm, folder)
        with copy.start(core, prefix, start_seconds=CALLGRIND_SECONDS_MAX) as server:
            for case in applicable(arm):
                _, _, request, connections, depth, _, _ = case
                with Lockstep(server.port, connections) as client:
                    rounds = max(1, requests // (connections * depth))
                    client.run(request, max(10, rounds // 4), depth)
                    readings = []
                    for _ in range(3):
                        control(server.pid, "-z")
                        control(server.pid, "-i", "on")
                        # The first answer, which shows the client what to expect, counts as well.
                        answered = client.run(request, rounds, depth) + 1
                        control(server.pid, "-i", "off")
                        control(server.pid, "-d")
                        if with_profile and case[5] is not None and len(readings) == 2:
                            print_profile(folder, case, answered)
                        readings.append(callgrind_total(folder) / answered)
                kept = readings[1:]
                spread = (max(kept) - min(kept)) / min(kept)
                note = f"{arm.name} ±{100 * spread:.1f} %" if spread > 0.01 else ""
                results.append((case, statistics.mean(kept), note))
    return results


# --- heap calls, by a preloaded counter


class HeapCounter:
    """Reads the counts of bench/counter/malloc_count.c."""

    def __init__(self, path):
        self.path = path

    def read(self):
        allocations, _, size, mark = struct.unpack("=4Q", pathlib.Path(self.path).read_bytes()[:32])
        if mark != 1:
            raise LabError("the heap counter is not in the server")
        return allocations, size


def heap_calls(arm, build, core, rounds):
    library = pathlib.Path(build, "malloc_count.so").resolve()
    results = []
    with tempfile.TemporaryDirectory(prefix="violet-bench-heap-") as name:
        counter = HeapCounter(f"{name}/counts")
        environment = {"LD_PRELOAD": str(library), "MALLOC_COUNT": counter.path}
        with arm.start(core, environment=environment) as server:
            if str(library) not in pathlib.Path(f"/proc/{server.pid}/maps").read_text():
                raise LabError(f"{arm.name}: {library.name} is not loaded")
            for case in applicable(arm):
                _, _, request, connections, depth, _, _ = case
                with Lockstep(server.port, connections) as client:
                    client.run(request, 50, depth)
                    before = counter.read()
                    answered = client.run(request, rounds, depth) + 1
                    after = counter.read()
                results.append((case, (after[0] - before[0]) / answered, ""))
    return results


# --- system calls


def perf_works():
    if not shutil.which("perf"):
        return False
    command = ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return re.search(r"^\d+,,raw_syscalls", done.stderr, re.MULTILINE) is not None


class SyscallCounter:
    """perf's tracepoint where it is allowed, for it hardly slows the server; else strace, which does."""

    def __init__(self, pid):
        self.output = tempfile.NamedTemporaryFile(prefix="violet-bench-syscalls-")  # noqa: SIM115 closed in __exit__
        self.uses_perf = perf_works()
        if self.uses_perf:
            command = ["perf", "stat", "-x,", "-o", self.output.name, "-e", "raw_syscalls:sys_enter", "-p", str(pid)]
        else:
            command = ["strace", "-c", "-f", "-o", self.output.name, "-p", str(pid)]
        self.tracer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.tracer.poll() is None:
            self.tracer.kill()
            self.tracer.wait()
        self.output.close()

    def finish(self):
        self.tracer.send_signal(signal.SIGINT)
        self.tracer.wait(20)
        text = pathlib.Path(self.output.name).read_text()
        pattern = r"^(\d+),,raw_syscalls" if self.uses_perf else r"^\s*100\.00\s+\S+\s+\S*\s*(\d+)\s.*total$"
        found = re.search(pattern, text, re.MULTILINE)
        if not found:
            raise LabError(f"no count of system calls in {text[-200:]!r}")
        return int(found[1])


def system_calls(arm, build, server_core, load_core, requests):
    """For 64 connections, one request at a time and 16 pipelined; connecting and closing counted in."""
    results = []
    load = str(pathlib.Path(build, "pipeline_load"))
    wanted = (
        (("GET, 64 connections", "get", None, 64, 1, 2.12, 2.12), 1, requests),
        (("GET, 16 pipelined, a batch", "pipelined", None, 64, 16, 2.2, 2.12), 16, requests * 4),
    )
    for case, depth, count in wanted:
        with arm.start(server_core) as server:
            url = server.url(arm.target(case[1]))
            command = [load, "-c", "64", "-d", str(depth), "-s", "60", "-n"]
            run_on(load_core, [*command, "20000", url], 70)
            readings = []
            # How many events one wait returns depends on what else the machine does.
            for _ in range(3):
                with SyscallCounter(server.pid) as counter:
                    answer = json.loads(run_on(load_core, [*command, str(count), url], 70))
                    total = counter.finish()
                if answer["wrong"] or answer["failed"]:
                    raise LabError(f"{arm.name}: {answer}")
                readings.append(total * depth / answer["requests"])
            note = f"{arm.name} {min(readings):.3f} to {max(readings):.3f}"
            results.append((case, statistics.median(readings), note))
    return results


def measure(arms, build, server_core, load_core, report, is_quick, with_profile):
    own = [arm for arm in arms.values() if not arm.is_peer]
    names = [arm.name for arm in own]
    if shutil.which("valgrind"):
        count = 1600 if is_quick else 16000
        got = {arm.name: instructions(arm, server_core, count, with_profile and arm.name == "arena") for arm in own}
        report.add("user instructions a request (callgrind)", rows_of(got, 0), names)
    else:
        print("\nnotice: valgrind is not installed: no instruction counts")
    if pathlib.Path(build, "malloc_count.so").exists():
        got = {arm.name: heap_calls(arm, build, server_core, 100 if is_quick else 1000) for arm in own}
        rows = rows_of(got, 3, must=False)
        for row in rows:
            row.must, row.aim = 0, 0
        report.add("heap allocations a request, from the 50th on a connection", rows, names)
    if not perf_works() and not shutil.which("strace"):
        print("\nnotice: neither perf nor strace can count system calls here")
        return
    got = {arm.name: system_calls(arm, build, server_core, load_core, 20000 if is_quick else 200000) for arm in own}
    report.add(f"system calls ({'perf' if perf_works() else 'strace, which slows the server'})", rows_of(got, 3), names)
