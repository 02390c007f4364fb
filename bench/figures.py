#!/usr/bin/env python3
"""Makes the figures of docs/performance.md out of what `make bench` has written, so that nobody types one.

    bench/figures.py add readings.json    puts its sections into docs/figures.json, in place of those of the same title
    bench/figures.py check                the page shows what docs/figures.json holds (status 1 when not)
    bench/figures.py --self-test          proves that check can fail

Each section keeps the commit, compiler, flags and machine of the run that it comes from.
"""

import argparse
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lab.count.costs import TITLES, WHOLE  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
STORE, PAGE = DOCS / "figures.json", DOCS / "performance.md"
BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"
# Of the banner: what a figure means nothing without.
FACTS = ("commit", "compiler", "flags", "libuv", "kernel", "processor")


def number(value, digits):
    return "" if value is None else f"{value:,.{digits}f}"


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def costs_sections(costs):
    """[(title, Markdown)] of what lab/count/costs.py has measured."""
    rows = [
        [name, *(number(values[column], 0 if column in WHOLE else 2) for column in TITLES)]
        for name, values in costs["shapes"].items()
    ]
    return [
        ("What a request costs", table(["shape", *TITLES.values()], rows)),
        ("Heap bytes of an idle connection", table(["wire", "bytes"], [[n, number(v, 0)] for n, v in costs["idle"].items()])),
        ("Sizes of structures", table(["structure", "bytes"], [[n, number(v, 0)] for n, v in costs["sizes"].items()])),
    ]


def section_table(section):
    """One section of a Report."""
    arms = list(dict.fromkeys(arm for row in section["rows"] for arm in row["values"]))
    rows = []
    for row in section["rows"]:
        verdict = {"ok": "met", "aim": "met, and the aim", "MISSED": "**missed**"}.get(row["verdict"], "")
        cells = [number(row["values"].get(arm), row["digits"]) for arm in arms]
        rows.append([row["name"], *cells, number(row["must"], row["digits"]), verdict])
    return table(["", *arms, "must", ""], rows)


def sections_of(readings):
    """{title: {"text", "facts"}} of one run."""
    facts = {name: readings["banner"][name] for name in FACTS}
    found = costs_sections(readings["costs"]) if readings.get("costs") else []
    found += [(section["title"], section_table(section)) for section in readings["sections"]]
    return {title: {"facts": facts, "text": text} for title, text in found}


def render(store):
    """The page's part: a banner whenever the run changes, then its sections."""
    parts, last = [], None
    for title, section in store.items():
        if section["facts"] != last:
            last = section["facts"]
            parts.append("".join(f"- {name}: `{value}`\n" for name, value in last.items()))
        parts.append(f"### {title[:1].upper()}{title[1:]}\n\n{section['text']}")
    return "\n" + "\n".join(parts) + "\n"


def split(page):
    before, _, rest = page.partition(BEGIN)
    shown, _, after = rest.partition(END)
    return before, shown, after


def load():
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}


def check(page, store):
    """What is wrong, or nothing."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        return "docs/performance.md has no place for figures"
    if split(page)[1] != render(store):
        return "docs/performance.md shows other figures than docs/figures.json: bench/figures.py add readings.json"
    return ""


def add(path):
    store = {**load(), **sections_of(json.loads(path.read_text()))}
    STORE.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
    before, _, after = split(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(before + BEGIN + render(store) + END + after, encoding="utf-8")


def self_test():
    store = {"a": {"facts": {"commit": "1"}, "text": "| 1 |\n"}}
    page = "x\n" + BEGIN + render(store) + END + "y\n"
    assert check(page, store) == ""
    assert check(page.replace("| 1 |", "| 2 |"), store)
    assert check("x\n", store)
    assert check(page, {**store, "b": store["a"]})
    print("figures: each check can fail")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("add", "check"))
    parser.add_argument("readings", nargs="?", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.what == "add" and options.readings:
        add(options.readings)
        return 0
    if options.what != "check":
        parser.error("add READINGS, or check")
    wrong = check(PAGE.read_text(encoding="utf-8"), load())
    if wrong:
        print(f"figures: {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
