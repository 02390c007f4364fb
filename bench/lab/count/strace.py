"""System calls of a server that runs under strace: every one is a line of its log, counted between two points."""

import collections
import pathlib
import re

CALL = re.compile(r"^\d+ +([a-z]\w*)\(", re.MULTILINE)


class Strace:
    """`prefix` goes before the server's command. Slow, but a count does not care."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder, "strace")
        self.prefix = ["strace", "-f", "-qq", "-e", "signal=none", "-s", "0", "-o", str(self.path)]
        self.at = 0

    def mark(self):
        self.at = self.path.stat().st_size

    def calls(self):
        """{name: how often} since mark()."""
        with self.path.open("rb") as file:
            file.seek(self.at)
            return collections.Counter(CALL.findall(file.read().decode(errors="replace")))
