"""Reads what bench/counter/tally.c counts in a server."""

import dataclasses
import pathlib
import re
import struct
import subprocess

from ..process import LabError

MARK = 2
SITES = 4096
HEAD = struct.Struct("=4Qq3Q")
SITE = struct.Struct("=3Q")


@dataclasses.dataclass(frozen=True)
class Counts:
    allocations: int
    live_bytes: int
    copied_bytes: int
    locks: int


class Tally:
    def __init__(self, build, folder):
        self.library = pathlib.Path(build, "tally.so").resolve()
        self.path = pathlib.Path(folder, "tally")
        self.environment = {"LD_PRELOAD": str(self.library), "TALLY": str(self.path)}

    def prove(self, pid):
        """Counts of zero are worth something only where somebody counts."""
        if str(self.library) not in pathlib.Path(f"/proc/{pid}/maps").read_text():
            raise LabError(f"{self.library.name} is not loaded")
        self.read()

    def read(self):
        mark, allocations, _, _, live, _, copied, locks = HEAD.unpack(self.path.read_bytes()[: HEAD.size])
        if mark != MARK:
            raise LabError("nobody counts in the server")
        return Counts(allocations, live, copied, locks)

    def sites(self):
        """{address that a copy returned to: bytes}"""
        data = self.path.read_bytes()[HEAD.size : HEAD.size + SITES * SITE.size]
        return {caller: size for caller, _, size in SITE.iter_unpack(data) if caller}


def place_of(pid, address):
    """What stands at an address of a running process, as "function at file:line"."""
    bases = {}
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        found = re.match(r"([\da-f]+)-([\da-f]+) \S+ ([\da-f]+) \S+ \d+\s+(/\S+)", line)
        if not found:
            continue
        begin, end, offset = (int(text, 16) for text in found.groups()[:3])
        base = bases.setdefault(found[4], begin - offset)
        if begin <= address < end:
            # One byte back: the call, not what follows it.
            where = hex(address - 1 - base)
            command = ["llvm-symbolizer-19", "--functions=short", "--output-style=GNU", "-p", "-e", found[4], where]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            return done.stdout.partition("\n")[0].strip() or f"{found[4]}+{where}"
    return hex(address)
