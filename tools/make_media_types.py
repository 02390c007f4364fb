#!/usr/bin/env python3
"""The table of media types, from tools/media_types.txt.

    tools/make_media_types.py              writes src/violet/http/value/media_type_table.h
    tools/make_media_types.py --check      fails when it is not what would be written
    tools/make_media_types.py --compare FILE   shows where a mime.types of the system says something else
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tools/media_types.txt"
TARGET = ROOT / "src/violet/http/value/media_type_table.h"
TYPE = re.compile(r"[a-z]+/[a-z0-9][a-z0-9.+-]*")
EXTENSION = re.compile(r"[a-z0-9]+")

HEAD = """#pragma once

// Made by tools/make_media_types.py from tools/media_types.txt: media types by extension, in the order of the bytes.

#include <cstddef>
#include <string_view>

namespace violet::http {

struct MediaTypeRow {
  std::string_view extension;
  std::string_view type;
};

"""


def read(path):
    """{extension: (type, whether it is text in UTF-8)}"""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        kind, rest = words[0], words[1:]
        is_text = rest[:1] == ["utf-8"]
        extensions = rest[1:] if is_text else rest
        if not TYPE.fullmatch(kind) or not extensions:
            sys.exit(f"{path.name}:{number}: not TYPE [utf-8] EXTENSION...")
        for extension in extensions:
            if not EXTENSION.fullmatch(extension) or extension in found:
                sys.exit(f"{path.name}:{number}: {extension!r} is malformed or stands twice")
            found[extension] = (kind, is_text)
    return found


def table(types):
    rows = []
    for extension, (kind, is_text) in sorted(types.items()):
        rows.append(f'    {{"{extension}", "{kind}{"; charset=utf-8" if is_text else ""}"}},\n')
    longest = max(map(len, types))
    return (
        HEAD
        + f"inline constexpr std::size_t kExtensionMax = {longest};\n"
        + "// clang-format off\ninline constexpr MediaTypeRow kMediaTypes[] = {\n"
        + "".join(rows)
        + "};\n// clang-format on\n\n}  // namespace violet::http\n"
    )


def compare(types, path):
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, *extensions = line.partition("#")[0].split() or [""]
        for extension in extensions:
            if extension not in types:
                print(f"missing    {extension:12} {kind}")
            elif types[extension][0] != kind:
                print(f"different  {extension:12} {kind}, here {types[extension][0]}")


def main():
    parser = argparse.ArgumentParser(description="Makes the table of media types.")
    parser.add_argument("--check", action="store_true", help="fail when the table is not current")
    parser.add_argument("--compare", type=pathlib.Path, metavar="FILE", help="show what FILE says otherwise")
    options = parser.parse_args()
    types = read(SOURCE)
    if options.compare:
        return compare(types, options.compare)
    text = table(types)
    if not options.check:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET.relative_to(ROOT)} is not what tools/media_types.txt says: run tools/make_media_types.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
