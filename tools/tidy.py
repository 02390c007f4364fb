#!/usr/bin/env python3
"""The shape of the source tree, as a test.

    tools/tidy.py               checks this project; each finding is one line, file:line: message
    tools/tidy.py --self-test   proves on a temporary tree that every rule can fail

Rules:
  layers    a file of src/violet/<layer>/ includes its own layer and those that its violet_layer() call lists in DEPS
            and no other; DEPS lists only layers that stand earlier in src/violet/CMakeLists.txt
  folder    a folder of src/violet has at most 12 files, CMakeLists.txt not counted
  length    a file has at most 600 lines
  header    a header has #pragma once, and under src none of <iostream> <regex> <functional> <ranges>
  own       a .cc that has a header of its own name beside it includes that header first
  paths     no file names a directory of somebody's machine or the host of a package registry
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER_FILES_MAX = 12
FILE_LINES_MAX = 600
CODE_FOLDERS = ("src", "tests", "apps", "examples", "fuzz", "bench", "tools")
DATA_FOLDERS = ("fuzz/corpus/",)
HEAVY_HEADERS = ("iostream", "regex", "functional", "ranges")

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
LAYER_CALL = re.compile(r"^[ \t]*violet_layer\(([^)]*)\)", re.MULTILINE)
LAYER_ORDER = re.compile(r"foreach\(layer\s+([^)]*)\)")
MACHINE_PATH = re.compile(r"(?<![\w.{}\])])/(?:home/\w+|root|work|workspace|builds|Users/\w+)/[\w.]")
REGISTRY_HOST = re.compile(
    r"\b(?:deb|registry|mirrors?|archive|snapshot|security|ppa|packages|proxy|sum)"
    r"\.(?!example\.)[a-z0-9-]+\.(?:org|com|io|net)\b"
    r"|\b(?:pypi|npmjs|crates|rubygems|pythonhosted)\.(?:org|com|io)\b"
)


class Tree:
    """The files of a project and the findings about them."""

    def __init__(self, root):
        self.root = root
        self.findings = []
        self.files = sorted(self._list())
        self._texts = {}

    def _list(self):
        """Paths relative to the root: what git tracks or would track, or everything where git does not answer."""
        if (self.root / ".git").exists():
            command = ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            answer = subprocess.run(command, check=False, capture_output=True, text=True)
            if answer.returncode == 0:
                return [name for name in answer.stdout.split("\0") if name and (self.root / name).is_file()]
        paths = (path for path in self.root.rglob("*") if path.is_file())
        names = (path.relative_to(self.root).as_posix() for path in paths)
        return [name for name in names if not name.startswith(("build/", ".git/", ".cache/"))]

    def text(self, name):
        """The text of a file, None where it is not UTF-8 text."""
        if name not in self._texts:
            try:
                self._texts[name] = (self.root / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                self._texts[name] = None
        return self._texts[name]

    def lines(self, name):
        return (self.text(name) or "").splitlines()

    def report(self, name, line, message):
        self.findings.append(f"{name}:{line}: {message}")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def includes(tree, name):
    """(line, quote or bracket, path) of each #include."""
    for number, line in enumerate(tree.lines(name), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


class Layers:
    """What the violet_layer() calls say: for each folder below src/violet its layer, for each layer its DEPS."""

    def __init__(self, tree):
        self.folder_of = {}
        self.deps = {}
        for name in tree.files:
            if not re.fullmatch(r"src/violet/.+/CMakeLists\.txt", name):
                continue
            folder = name[len("src/violet/") : -len("/CMakeLists.txt")]
            text = tree.text(name) or ""
            for call in LAYER_CALL.finditer(text):
                self._add(tree, name, line_of(text, call.start()), folder, call.group(1).split())
        self._check_order(tree)

    def _add(self, tree, name, line, folder, words):
        if not words:
            tree.report(name, line, "violet_layer() without a name")
            return
        layer, keyword, deps = words[0], None, []
        for word in words[1:]:
            if word in ("DEPS", "LIBS"):
                keyword = word
            elif keyword == "DEPS":
                deps.append(word)
        self.folder_of[folder] = layer
        self.deps[layer] = (name, line, deps)

    def _check_order(self, tree):
        top = "src/violet/CMakeLists.txt"
        match = LAYER_ORDER.search(tree.text(top) or "") if top in tree.files else None
        order = match.group(1).split() if match else []
        order = [self.folder_of.get(folder, folder) for folder in order]
        for layer, (name, line, deps) in self.deps.items():
            for dep in deps:
                if dep not in self.deps:
                    tree.report(name, line, f"layer {layer} depends on {dep}, which is no layer")
                elif layer not in order:
                    tree.report(name, line, f"layer {layer} is not in the list of {top}")
                    break
                elif dep not in order or order.index(dep) >= order.index(layer):
                    tree.report(name, line, f"layer {layer} depends on {dep}, which does not stand below it")

    def of(self, path):
        """The layer of a path relative to src/violet, None for a file that stands directly there."""
        folder = pathlib.PurePosixPath(path).parent
        while str(folder) != ".":
            if str(folder) in self.folder_of:
                return self.folder_of[str(folder)]
            folder = folder.parent
        return None


def check_layers(tree):
    layers = Layers(tree)
    for name in tree.files:
        if not re.fullmatch(r"src/violet/.+\.(h|cc)", name):
            continue
        path = name[len("src/violet/") :]
        layer = layers.of(path)
        if layer is None and "/" in path:
            tree.report(name, 1, "its folder has no violet_layer() call")
            continue
        for line, quote, target in includes(tree, name):
            if not target.startswith("violet/"):
                if quote == '"':
                    tree.report(name, line, f'"{target}": an include of the project reads "violet/<layer>/<file>"')
                continue
            other = layers.of(target[len("violet/") :])
            if layer is None or other == layer:
                continue
            if other is None:
                tree.report(name, line, f"{target} belongs to no layer")
            elif other not in layers.deps[layer][2]:
                tree.report(name, line, f"layer {layer} may not include {other} ({target}); see its violet_layer() call")


def check_folders(tree):
    counts = {}
    for name in tree.files:
        path = pathlib.PurePosixPath(name)
        if name.startswith("src/violet/") and path.name != "CMakeLists.txt":
            counts.setdefault(str(path.parent), []).append(name)
    for folder, names in counts.items():
        if len(names) > FOLDER_FILES_MAX:
            tree.report(names[FOLDER_FILES_MAX], 1, f"{folder} has {len(names)} files; at most {FOLDER_FILES_MAX}")


def check_lengths(tree):
    for name in tree.files:
        if name.split("/")[0] not in CODE_FOLDERS or name.startswith(DATA_FOLDERS):
            continue
        count = len(tree.lines(name))
        if count > FILE_LINES_MAX:
            tree.report(name, FILE_LINES_MAX + 1, f"{count} lines; at most {FILE_LINES_MAX}")


def check_headers(tree):
    for name in tree.files:
        if not name.endswith(".h") or name.split("/")[0] not in CODE_FOLDERS:
            continue
        if "#pragma once" not in tree.lines(name):
            tree.report(name, 1, "a header without #pragma once")
        if not name.startswith("src/"):
            continue
        for line, _, target in includes(tree, name):
            if target in HEAVY_HEADERS:
                tree.report(name, line, f"<{target}> does not belong in a header")


def check_own_header_first(tree):
    known = set(tree.files)
    for name in tree.files:
        if not re.fullmatch(r"src/.+\.cc", name) or name[:-3] + ".h" not in known:
            continue
        own = name[len("src/") : -3] + ".h"
        first = next(includes(tree, name), None)
        if first is None or first[2] != own:
            tree.report(name, first[0] if first else 1, f'the first include is to be "{own}"')


def check_paths(tree):
    here = str(tree.root)
    for name in tree.files:
        if name.startswith(DATA_FOLDERS):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            if MACHINE_PATH.search(line) or (len(here) > 4 and here in line):
                tree.report(name, number, "a path of one machine")
            if REGISTRY_HOST.search(line):
                tree.report(name, number, "the host of a package registry")


CHECKS = (check_layers, check_folders, check_lengths, check_headers, check_own_header_first, check_paths)


def findings_of(root):
    tree = Tree(root)
    for check in CHECKS:
        check(tree)
    return tree.findings


# The self-test: a tree without a finding, and for each rule one change that has to be found.

CLEAN_TREE = {
    "src/violet/CMakeLists.txt": "foreach(layer low left right high)\n",
    "src/violet/violet.h": '#pragma once\n#include "violet/high/h.h"\n',
    "src/violet/low/CMakeLists.txt": "violet_layer(low)\n",
    "src/violet/low/l.h": "#pragma once\n#include <cstddef>\n",
    "src/violet/low/l.cc": '#include "violet/low/l.h"\n\n#include <iostream>\n',
    "src/violet/left/CMakeLists.txt": "violet_layer(left DEPS low LIBS PkgConfig::Z)\n",
    "src/violet/left/a.h": '#pragma once\n#include "violet/low/l.h"\n',
    "src/violet/right/CMakeLists.txt": "violet_layer(right DEPS low)\n",
    "src/violet/right/b.h": '#pragma once\n#include "violet/low/l.h"\n',
    "src/violet/high/CMakeLists.txt": "violet_layer(high\n  DEPS left right)\n",
    "src/violet/high/h.h": '#pragma once\n#include "violet/left/a.h"\n#include "violet/right/b.h"\n',
    "tests/low/l_test.cc": '#include "violet/high/h.h"\n',
    "docs/page.md": "Read http://www.example.com/home/page and proxy.example.com; /usr/bin/make is fine.\n",
}

BROKEN = (
    ("upward include", {"src/violet/low/l.h": '#pragma once\n#include "violet/left/a.h"\n'}, "src/violet/low/l.h:2:"),
    ("sideways include", {"src/violet/left/a.h": '#pragma once\n#include "violet/right/b.h"\n'}, "left/a.h:2:"),
    ("include of a floor not listed", {"src/violet/high/h.h": "#pragma once\n\n#include <violet/low/l.h>\n"}, "h.h:3:"),
    ("include of no layer", {"src/violet/high/h.h": '#pragma once\n#include "violet/none/n.h"\n'}, "h.h:2:"),
    ("upward DEPS", {"src/violet/low/CMakeLists.txt": "violet_layer(low DEPS high)\n"}, "low/CMakeLists.txt:1:"),
    ("unknown DEPS", {"src/violet/low/CMakeLists.txt": "\nviolet_layer(low DEPS lower)\n"}, "low/CMakeLists.txt:2:"),
    ("layer not in the list", {"src/violet/CMakeLists.txt": "foreach(layer low left right)\n"}, "high/CMakeLists.txt:1:"),
    ("folder without a layer", {"src/violet/attic/x.cc": "int x;\n"}, "src/violet/attic/x.cc:1:"),
    ("relative include", {"src/violet/low/l.cc": '#include "violet/low/l.h"\n#include "x.h"\n'}, "low/l.cc:2:"),
    ("13 files in a folder", {f"src/violet/low/f{i}.cc": "" for i in range(11)}, "has 13 files"),
    ("601 lines", {"tools/long.py": "#\n" * 601}, "tools/long.py:601:"),
    ("no pragma once", {"tests/low/t.h": "int x;\n"}, "tests/low/t.h:1:"),
    ("own header not first", {"src/violet/low/l.cc": '\n#include <new>\n#include "violet/low/l.h"\n'}, "low/l.cc:2:"),
    ("own header missing", {"src/violet/low/l.cc": "int x;\n"}, "low/l.cc:1:"),
    *((f"<{h}> in a header", {"src/violet/low/l.h": f"#pragma once\n#include <{h}>\n"}, "l.h:2:") for h in HEAVY_HEADERS),
    ("path of a home", {"docs/page.md": "see\n/ho" + "me/ada/violet/x\n"}, "docs/page.md:2:"),
    ("path of a build machine", {"docs/page.md": "cd /wo" + "rk/main\n"}, "docs/page.md:1:"),
    ("path of this checkout", {"docs/page.md": "cd {root}/src\n"}, "docs/page.md:1:"),
    ("registry host", {"tools/x.sh": "deb http://deb." + "debian.org/debian x main\n"}, "tools/x.sh:1:"),
    ("another registry host", {"tools/x.sh": "# from py" + "pi.org\n"}, "tools/x.sh:1:"),
)

ALLOWED = (
    ("12 files in a folder", {f"src/violet/low/f{i}.cc": "" for i in range(10)}),
    ("600 lines", {"tools/long.py": "#\n" * 600}),
    ("a long corpus file", {"fuzz/corpus/head/x": "\n" * 700}),
)


def findings_in(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{root}", str(root)), encoding="utf-8")
        return findings_of(root)


def self_test():
    failed = 0
    for title, change in (("the clean tree", {}), *ALLOWED):
        found = findings_in({**CLEAN_TREE, **change})
        if found:
            failed += 1
            print(f"{title}: expected no finding, got {found}")
    for title, change, expected in BROKEN:
        found = findings_in({**CLEAN_TREE, **change})
        if len(found) != 1 or expected not in found[0]:
            failed += 1
            print(f"{title}: expected one finding with '{expected}', got {found}")
    print(f"{len(BROKEN) + len(ALLOWED) + 1} cases, {failed} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description="Checks the shape of the source tree.")
    parser.add_argument("--self-test", action="store_true", help="prove that each rule can fail")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    findings = findings_of(options.root.resolve())
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
