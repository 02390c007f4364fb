#!/usr/bin/env python3
"""Runs the fuzz targets, one row each.

    make fuzz SECONDS=10                           each target for ten seconds on its corpus and dictionary
    tools/fuzz.py build/fuzz --seconds 600 h1_head one target, ten minutes
    tools/fuzz.py build/fuzz --minimise h1_head    keep of its corpus (and of what it has found) only what reaches more
    tools/fuzz.py --self-test                      proves that a finding is seen

fuzz/<name>_fuzz.cc is a target, fuzz/corpus/<name>/ its corpus, fuzz/<name>.dict its dictionary. Inputs that reach new
code go to BUILD/corpus/<name>, those that break something to BUILD/findings/. Exit status 1 after a finding, 2 for a
target that is not built.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZ = ROOT / "fuzz"
COLUMNS = ("execs", "exec/s", "edges", "features", "new")
GRACE_SECONDS = 60


def targets():
    return sorted(path.name.removesuffix("_fuzz.cc") for path in FUZZ.glob("*_fuzz.cc"))


def environment():
    return {**os.environ, "PATH": os.environ["PATH"] + ":/usr/lib/llvm-19/bin"}  # llvm-symbolizer


def command(build, name, seconds):
    own = build / "corpus" / name
    own.mkdir(parents=True, exist_ok=True)
    (build / "findings").mkdir(exist_ok=True)
    line = [str(build / f"{name}_fuzz"), str(own)]
    if (FUZZ / "corpus" / name).is_dir():
        line.append(str(FUZZ / "corpus" / name))
    if (FUZZ / f"{name}.dict").exists():
        line.append(f"-dict={FUZZ / name}.dict")
    line += [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]
    return [*line, f"-artifact_prefix={build / 'findings' / name}-"]


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else None


def reading(status, text):
    """{column: number or None, "result": "ok" or what was found}"""
    if status == 0:
        result = "ok"
    elif found := re.search(r"SUMMARY: \w+: ([\w-]+)|ERROR: libFuzzer: ([\w -]+)|(Assertion|VIOLET_\w+)", text):
        result = next(part for part in found.groups() if part)
    else:
        result = f"status {status}"
    return {
        "execs": number(r"stat::number_of_executed_units:\s*(\d+)", text),
        "exec/s": number(r"stat::average_exec_per_sec:\s*(\d+)", text),
        "edges": number(r"\bcov: (\d+)", text),
        "features": number(r"\bft: (\d+)", text),
        "new": number(r"stat::new_units_added:\s*(\d+)", text),
        "result": result,
    }


def fuzz(build, name, seconds):
    if not (build / f"{name}_fuzz").exists():
        return {"result": "not built"}
    line = command(build, name, seconds)
    try:
        done = subprocess.run(
            line, capture_output=True, timeout=seconds + GRACE_SECONDS, env=environment(), cwd=ROOT, check=False
        )
        status, output = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as expired:
        status, output = -1, (expired.stdout or b"") + (expired.stderr or b"")
    text = output.decode(errors="replace")
    values = reading(status, text)
    if values["result"] != "ok":
        (build / "findings" / f"{name}.log").write_text(text)
    return values


def run(build, names, seconds):
    width = max(map(len, names))
    print(f"{'target':<{width}}" + "".join(f"{column:>11}" for column in COLUMNS) + "  result")
    results = []
    for name in names:
        values = fuzz(build, name, seconds)
        cells = ("-" if values.get(column) is None else f"{values[column]:,}" for column in COLUMNS)
        print(f"{name:<{width}}" + "".join(f"{cell:>11}" for cell in cells) + f"  {values['result']}", flush=True)
        results.append(values["result"])
    missing = results.count("not built")
    found = len(results) - results.count("ok") - missing
    if found:
        print(f"fuzz: inputs and logs of {found} findings lie in {build}/findings", file=sys.stderr)
    print(f"fuzz: {len(results)} targets, {found} findings, {missing} not built")
    return 1 if found else 2 if missing else 0


def minimise(build, name):
    corpus = FUZZ / "corpus" / name
    with tempfile.TemporaryDirectory() as folder:
        sources = [str(place) for place in (corpus, build / "corpus" / name) if place.is_dir()]
        line = [str(build / f"{name}_fuzz"), "-merge=1", folder, *sources]
        subprocess.run(line, check=True, capture_output=True, timeout=1800, env=environment())
        kept = {path.read_bytes() for path in pathlib.Path(folder).iterdir()}
        before = {path: path.read_bytes() for path in corpus.iterdir()} if corpus.is_dir() else {}
        corpus.mkdir(parents=True, exist_ok=True)
        # A file with a name was put there by somebody: a finding, or an example of the specification.
        for path, content in before.items():
            if content not in kept and re.fullmatch(r"[0-9a-f]{40}", path.name):
                path.unlink()
        for path in pathlib.Path(folder).iterdir():
            if path.read_bytes() not in before.values():
                shutil.copy(path, corpus / path.name)
        print(f"{name}: {len(before)} files before, {len(list(corpus.iterdir()))} now")


def self_test():
    good = "#9 DONE cov: 12 ft: 34 corp: 1\nstat::number_of_executed_units: 9\nstat::average_exec_per_sec: 3\n"
    assert reading(0, good)["result"] == "ok"
    assert reading(0, good)["edges"] == 12 and reading(0, good)["execs"] == 9
    assert reading(1, "==1==ERROR\nSUMMARY: AddressSanitizer: heap-use-after-free x.cc\n")["result"] == "heap-use-after-free"
    assert reading(77, "==1== ERROR: libFuzzer: deadly signal\n")["result"] == "deadly signal"
    assert reading(70, "==1== ERROR: libFuzzer: timeout after 10 seconds\n")["result"] == "timeout after 10 seconds"
    assert reading(1, "")["result"] == "status 1"
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        target = build / "broken_fuzz"
        for script, wanted in (("exit 0", 0), ("echo SUMMARY: AddressSanitizer: SEGV; exit 1", 1)):
            target.write_text(f"#!/bin/sh\n{script}\n")
            target.chmod(0o755)
            assert run(build, ["broken"], 1) == wanted
        assert run(build, ["missing"], 1) == 2
    print("fuzz: each finding is seen")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_intermixed_args()
    if options.self_test:
        return self_test()
    if options.build is None:
        parser.error("which build?")
    names = options.names or targets()
    if options.minimise:
        for name in names:
            minimise(options.build.resolve(), name)
        return 0
    return run(options.build.resolve(), names, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
