#!/usr/bin/env python3
"""What the documents say, held against what is there.

    check.py links             each relative link of a Markdown file leads to a file, and its #part to a heading;
                               docs/README.md names every document
    check.py hello             the program in README.md is examples/hello/hello.cc
    check.py limits VIOLET     the table in docs/limits.md is what `violet --print-limits --markdown` prints
    check.py limits VIOLET --write    … makes it so
    check.py cli VIOLET        the program's other answers
    check.py --self-test       proves that each of the first three can fail
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
BEGIN, END = "<!-- limits: begin -->\n", "<!-- limits: end -->\n"


def anchors(text):
    """The #parts of a page, as they are made of its headings."""
    headings = re.findall(r"^#+ +(.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def pages(root):
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def check_links(root):
    found = []
    for page in pages(root):
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, part = target.partition("#")
            goal = (page.parent / path).resolve() if path else page
            if not goal.exists():
                found.append(f"{page.relative_to(root)}: {target} leads nowhere")
            elif part and part not in anchors(goal.read_text(encoding="utf-8")):
                found.append(f"{page.relative_to(root)}: {target}: there is no such heading")
    index = root / "docs" / "README.md"
    named = {(index.parent / link).resolve() for link in LINK.findall(index.read_text(encoding="utf-8"))}
    for page in sorted((root / "docs").rglob("*.md")):
        if page != index and page not in named:
            found.append(f"docs/README.md does not name {page.relative_to(root)}")
    return found


def check_hello(root):
    hello = (root / "examples/hello/hello.cc").read_text(encoding="utf-8")
    readme = (root / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```cpp\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    return [] if hello in blocks else ["README.md does not show examples/hello/hello.cc as it is"]


def split_limits(root):
    before, begin, rest = (root / "docs/limits.md").read_text(encoding="utf-8").partition(BEGIN)
    table, end, after = rest.partition(END)
    return before + begin, table, end + after


def check_limits(root, table):
    if split_limits(root)[1] == table:
        return []
    return ["docs/limits.md differs from `violet --print-limits --markdown`; tests/docs/check.py limits VIOLET --write"]


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=30, check=False)


def check_cli(program):
    found = []
    version = re.search(r"project\(violet VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    names = re.findall(r"^\| `(\w+)`", run(program, "--print-limits", "--markdown").stdout, re.MULTILINE)
    cases = (
        (["--version"], 0, [f"violet {version},"]),
        (["--help"], 0, ["usage: violet", "--version", "--print-limits [--markdown]", "--help"]),
        (["--print-limits"], 0, names),
        ([], 2, []),
        (["load", "--help"], 0, ["usage: violet load", "--rate", "--ab A B"]),
        (["load"], 2, []),
        (["load", "ftp://a/"], 2, []),
        (["--nothing"], 2, []),
        (["--print-limits", "--nothing"], 2, []),
        (["--version", "more"], 2, []),
    )
    if len(names) < 10:
        found.append(f"only {len(names)} limits")
    for arguments, status, parts in cases:
        done = run(program, *arguments)
        if done.returncode != status:
            found.append(f"violet {' '.join(arguments)}: status {done.returncode}, expected {status}")
        if status == 2 and (done.stdout or not done.stderr):
            found.append(f"violet {' '.join(arguments)}: an error belongs on stderr")
        found += [f"violet {' '.join(arguments)}: no '{part}'" for part in parts if part not in done.stdout]
    return found


def self_test():
    clean = {
        "README.md": "[docs](docs/README.md#more-of-it)\n```cpp\nint main() {}\n```\n```sh\n[no](link)\n```\n",
        "examples/hello/hello.cc": "int main() {}\n",
        "docs/README.md": "# Docs\n## More, of it\n[limits](limits.md) [page](guide/page.md) [web](https://a.example/)\n",
        "docs/limits.md": f"text\n{BEGIN}table\n{END}more\n",
        "docs/guide/page.md": "[up](../README.md) [here](#page)\n# Page\n",
    }
    broken = (
        ({"README.md": clean["README.md"].replace("README.md#", "NONE.md#")}, 1),
        ({"README.md": clean["README.md"].replace("#more", "#less")}, 1),
        ({"docs/README.md": "## More, of it\n[limits](limits.md)\n"}, 1),
        ({"examples/hello/hello.cc": "int main() { }\n"}, 1),
        ({"docs/limits.md": clean["docs/limits.md"].replace("table", "chair")}, 1),
        ({"docs/limits.md": "table\n"}, 1),
    )
    failed = 0
    for change, wanted in (({}, 0), *broken):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, text in {**clean, **change}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            found = check_links(root) + check_hello(root) + check_limits(root, "table\n")
        if len(found) != wanted:
            failed += 1
            print(f"{change}: expected {wanted} findings, got {found}")
    print(f"{len(broken) + 1} cases, {failed} failed")
    return failed


def main():
    what, *rest = sys.argv[1:]
    if what == "--self-test":
        return 1 if self_test() else 0
    if what == "links":
        found = check_links(ROOT)
    elif what == "hello":
        found = check_hello(ROOT)
    elif what == "cli":
        found = check_cli(rest[0])
    else:
        table = run(rest[0], "--print-limits", "--markdown").stdout
        if "--write" in rest:
            before, _, after = split_limits(ROOT)
            (ROOT / "docs/limits.md").write_text(before + table + after, encoding="utf-8")
        found = check_limits(ROOT, table)
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
