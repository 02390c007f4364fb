"""All that has a budget, of one build: measured, and shown as a table."""

import pathlib
import re

from .. import banner
from ..process import LabError
from . import ledger, shapes
from .subject import Subject

TITLES = {
    "instructions": "instructions",
    "system_calls": "system calls",
    "allocations": "heap calls",
    "copied_bytes": "bytes copied",
    "locks": "locks",
    "page_faults": "page faults",
}
WHOLE = ("instructions", "copied_bytes")


def build_of(build):
    """What the budgets depend on; an unoptimised build is refused."""
    entries = banner.cache(build)
    flags = banner.flags(entries)
    if not all(part in flags for part in ("-O2", "-DNDEBUG", "ThinLTO")):
        raise LabError(f"{build} is not the optimised build that the budgets are of: {flags!r}")
    version = re.search(r"(clang|g\+\+|gcc)\D*(\d+)", banner.compiler(entries))
    return {"compiler": f"{version[1]} {version[2]}" if version else "unknown", "flags": flags}


def measure(build, names=None, with_profile=False, arena=None):
    """{"build", "shapes", "idle", "sizes"}; with `names` only those shapes. `arena`: another entry than the build's."""
    wanted = [shape for shape in shapes.SHAPES if names is None or shape.name in names]
    if names is not None and len(wanted) != len(names):
        raise LabError(f"the shapes are {', '.join(shape.name for shape in shapes.SHAPES)}")
    subject = Subject(arena or pathlib.Path(build, "arena"))
    titled = lambda title: lambda shape, rows: print_profile(f"{shape.name}: {title}", rows)  # noqa: E731
    profiles = (titled("instructions"), titled("bytes copied")) if with_profile else (None, None)
    return {
        "build": build_of(build),
        "shapes": ledger.measure_shapes(subject, build, wanted, *profiles),
        "idle": ledger.weigh_idle(subject, build, shapes.IDLE) if names is None else {},
        "sizes": ledger.structure_sizes(build) if names is None else {},
    }


def print_profile(title, rows):
    print(f"\n{title}")
    for count, name in rows:
        print(f"  {count:>9.1f}  {name[:120]}")


def print_table(measured):
    width = max(len(name) for name in measured["shapes"])
    print(f"\n{'a request':<{width}}" + "".join(f"{title:>14}" for title in TITLES.values()))
    for name, values in measured["shapes"].items():
        print(f"{name:<{width}}" + "".join(f"{values[c]:>14,.{0 if c in WHOLE else 2}f}" for c in TITLES))
    for title, table in (("an idle connection, heap bytes", "idle"), ("structures, bytes", "sizes")):
        if measured[table]:
            print(f"\n{title}")
            print("\n".join(f"  {name:<24}{value:>8,.0f}" for name, value in measured[table].items()))
