"""How large a stripped hello is, and how long hello.cc takes to compile at -O0."""

import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile

from .banner import ROOT, cache
from .table import Row


def stripped_bytes(binary, folder):
    strip = shutil.which("llvm-strip-19") or shutil.which("strip")
    copy = pathlib.Path(folder, "stripped")
    shutil.copy(binary, copy)
    subprocess.run([strip, "--strip-all", str(copy)], check=True, timeout=60)
    return copy.stat().st_size


def compile_seconds(build, source, folder, rounds=3):
    """(wall, CPU) medians, without a compiler cache."""
    entries = cache(build)
    compiler = entries.get("CMAKE_CXX_COMPILER", "c++")
    command = [compiler, "-std=c++23", "-O0", f"-I{ROOT}/src", "-c", str(source), "-o", f"{folder}/hello.o"]
    walls, cpus = [], []
    for _ in range(rounds + 1):
        began, before = os.times(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, timeout=120)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        walls.append(os.times().elapsed - began.elapsed)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    # The first one reads the headers from disk.
    return statistics.median(walls[1:]), statistics.median(cpus[1:])


def measure(build, report):
    hello = pathlib.Path(build, "hello")
    source = next(iter(sorted(ROOT.glob("examples/hello/*.cc"))), None)
    rows = []
    with tempfile.TemporaryDirectory(prefix="violet-bench-size-") as folder:
        if hello.exists():
            rows.append(Row("hello stripped, MiB", {"arena": stripped_bytes(hello, folder) / 1048576}, must=1.5, digits=2))
        else:
            print(f"\nnotice: {hello} is not built: no size")
        if source is not None:
            wall, cpu = compile_seconds(build, source, folder)
            rows.append(Row("hello.cc at -O0, seconds", {"arena": wall}, must=1.5, digits=2))
            rows.append(Row("the same, CPU seconds", {"arena": cpu}, digits=2))
        else:
            print("\nnotice: there is no examples/hello: no compile time")
    if rows:
        report.add("hello", rows, ["arena"])
