"""What a figure needs beside it: commit, compiler, flags, machine."""

import hashlib
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, cwd=ROOT).stdout.strip()
    except OSError:
        return ""


def cache(build):
    """The entries of CMakeCache.txt."""
    try:
        text = pathlib.Path(build, "CMakeCache.txt").read_text()
    except OSError:
        return {}
    return dict(re.findall(r"^([\w-]+):\w+=(.*)$", text, re.MULTILINE))


def processor():
    match = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return match[1] if match else platform.machine()


def compiler(entries):
    command = entries.get("CMAKE_CXX_COMPILER", "")
    return output_of(command, "--version").partition("\n")[0] if command else "unknown"


def flags(entries):
    kind = entries.get("CMAKE_BUILD_TYPE", "")
    text = f"{entries.get('CMAKE_CXX_FLAGS', '')} {entries.get(f'CMAKE_CXX_FLAGS_{kind.upper()}', '')}".strip()
    is_whole = entries.get("CMAKE_INTERPROCEDURAL_OPTIMIZATION") in ("ON", "true", "TRUE")
    return text + (" ThinLTO" if is_whole else "")


def banner(build):
    entries = cache(build)
    changed = output_of("git", "status", "--porcelain", "--untracked-files=no", "--", "src", "apps", "examples", "cmake")
    arena = pathlib.Path(build, "arena")
    return {
        "commit": output_of("git", "rev-parse", "--short=12", "HEAD") + (" and uncommitted changes" if changed else ""),
        "compiler": compiler(entries),
        "flags": flags(entries),
        "libuv": output_of("pkg-config", "--modversion", "libuv"),
        "arena": hashlib.sha256(arena.read_bytes()).hexdigest()[:16] if arena.exists() else "not built",
        "kernel": f"{platform.system()} {platform.release()}",
        "processor": f"{processor()}, {len(os.sched_getaffinity(0))} cores",
        "load": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


def print_facts(values):
    for name, value in values.items():
        print(f"{name:<10} {value}")


def print_banner(values):
    print_facts(values)
    if os.getloadavg()[0] > 0.5:
        print("warning    the machine is busy: read counters, not times")
