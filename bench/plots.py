#!/usr/bin/python3
"""Draws what tools/peers.py has measured, as SVG: plots.py READINGS FOLDER

Throughput, CPU time an answer and latency against the number of connections, a line for each server.
"""

import json
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# Name of the file, title, what a reading shows.
DRAWINGS = (
    ("rate", "answers a second", lambda r: r["rate"]),
    ("cpu", "CPU microseconds an answer", lambda r: r["server"]["cpu_us"]),
    ("p50", "latency in microseconds, median", lambda r: r["latency_us"]["p50"]),
    ("p99", "latency in microseconds, 99 %", lambda r: r["latency_us"]["p99"]),
)
MINE = "violet"


def lines_of(sweep, value):
    """{server: [(connections, median)]}"""
    found = {}
    for title, arms in sweep.items():
        for name, runs in arms.items():
            found.setdefault(name, []).append((int(title.split()[0]), statistics.median(map(value, runs))))
    return found


def draw(readings, title, value):
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for name, points in lines_of(readings["sweep"], value).items():
        style = {"linewidth": 2.4, "zorder": 3} if name == MINE else {"linewidth": 1.2, "alpha": 0.85}
        axes.plot(*zip(*sorted(points)), marker="o", markersize=3, label=name, **style)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("connections")
    axes.set_title(title, loc="left")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False, fontsize="small", ncols=2)
    facts = readings["facts"]
    figure.text(0.01, 0.01, f"{facts['date']}, {facts['processor']}, commit {facts['commit']}", fontsize=6, alpha=0.7)
    return figure


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    readings = json.loads(pathlib.Path(sys.argv[1]).read_text())
    for name, title, value in DRAWINGS:
        figure = draw(readings, title, value)
        path = pathlib.Path(sys.argv[2], f"peers_{name}.svg")
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
