#!/usr/bin/env python3
"""The C++ of a page, compiled as its reader would compile it.

    tools/guide.py PAGE.md --commands FILE --like SOURCE --out DIR
        writes DIR/<page>.cc and checks it with -fsyntax-only, by the command that compiles SOURCE
    tools/guide.py --self-test --commands FILE --like SOURCE --out DIR
        proves that what is wrong in a page is found, and at its line

All ```cpp blocks of a page make one translation unit, with #line so that the compiler names the page. Declarations
stand at its top level, so that a later block may use what an earlier one has declared; the statements of a block become
a function that has an `App& app`, unless they make their own. A page whose first block includes nothing gets the
headers below and `using namespace violet`. What a block returns has to be something that a handler may return.

A comment before a block, which a reader of the page does not see, says what the text leaves out:

    <!-- guide:                            names that the block uses, in C++
    std::string me();
    -->
    <!-- guide: not compiled: reason -->   for a block that shows an error on purpose
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys

PREAMBLE = "".join(
    f"#include <{name}>\n"
    for name in ("violet/violet.h", "atomic", "cstdint", "memory", "optional", "string", "string_view", "vector")
)
PREAMBLE += "using namespace violet;\n"

FENCE = re.compile(r"^ *(```+|~~~+) *([^\s`]*)")
COMMENT = re.compile(r"<!-- guide:(.*?)-->", re.DOTALL)
REFUSAL = re.compile(r"\s*not compiled:(.*)", re.DOTALL)
OTHER_NAMES = ("c++", "cc", "cxx", "h", "hpp", "C++")

# Ends at the same place in any C++: comments, raw and other strings, characters that are no digit separators.
SKIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
DECLARATION = re.compile(
    r"(?:\[\[[^\]]*\]\]\s*)?(?:#|(?:template|struct|class|union|enum|namespace|using|inline|extern|static_assert)\b|"
    r"TEST(?:_F)?\(|(?!(?:return|co_\w+|throw|if|for|while|switch|do|try|else|delete|new)\b)"
    r"[A-Za-z_][\w:]*(?:<[^;{}()=]*>)?(?:\s*[&*]+\s*|\s+)(?:const\s+)?\w+\s*"
    r"\([^\"]*?\)\s*(?:const\s*|noexcept\s*)*[;{])"
)


class PageError(Exception):
    pass


def blocks_of(page):
    """(line, code) of the hidden names and of the ```cpp blocks that are compiled, in their order: lists of pairs."""
    lines = page.splitlines()
    found, comment, at = [], None, 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("<!-- guide:"):
            first = at
            while "-->" not in lines[at]:
                at += 1
                if at == len(lines):
                    raise PageError(f"{first + 1}: a comment that does not end")
            if comment:
                raise PageError(f"{first + 1}: two comments before one block")
            comment = (first + 1, COMMENT.search("\n".join(lines[first : at + 1])).group(1))
        fence = FENCE.match(line)
        if fence:
            first = at
            at += 1
            while at < len(lines) and not lines[at].strip().startswith(fence.group(1)):
                at += 1
            if at == len(lines):
                raise PageError(f"{first + 1}: a block that does not end")
            if fence.group(2) in OTHER_NAMES:
                raise PageError(f"{first + 1}: write ```cpp")
            if fence.group(2) == "cpp":
                found += with_names(comment, (first + 2, "\n".join(lines[first + 1 : at]) + "\n"))
                comment = None
        at += 1
        if comment and fence and fence.group(2) != "cpp":
            raise PageError(f"{comment[0]}: a comment that no block follows")
    if comment:
        raise PageError(f"{comment[0]}: a comment that no block follows")
    return found


def with_names(comment, block):
    if comment is None:
        return [[block]]
    line, text = comment
    refusal = REFUSAL.match(text)
    if refusal is None:
        return [[(line, text), block]]
    if not refusal.group(1).strip():
        raise PageError(f"{line}: not compiled, without a reason")
    return []


def blanked(code):
    """The code with comments and the insides of strings as blanks; each character stays where it is."""

    def blank(match):
        text = match.group(0)
        inside = re.sub(r"[^\n]", " ", text)
        return inside if text.startswith("/") else text[0] + inside[1:-1] + text[-1]

    return SKIPPED.sub(blank, code)


def items_of(line, code):
    """(line, text, its blanked text) of each declaration and statement of the top level."""
    plain = blanked(code)
    start, at, depth = 0, 0, 0
    while at < len(plain):
        char = plain[at]
        at += 1
        ends = False
        if char in "({[":
            depth += 1
        elif char in ")}]":
            depth -= 1
            rest = plain[at:].lstrip()
            ends = char == "}" and depth == 0 and not re.match(r"[;.,()\[]|(?:else|while|catch)\b", rest)
        elif char == ";":
            ends = depth == 0
        elif char == "#" and not plain[start : at - 1].strip():
            at = (plain + "\n").index("\n", at)
            ends = True
        if ends:
            yield item(line, code, plain, start, at)
            start = at
    if plain[start:].strip():
        yield item(line, code, plain, start, len(plain))


def item(line, code, plain, start, end):
    while plain[start].isspace():
        start += 1
    return line + code.count("\n", 0, start), code[start:end], plain[start:end]


def unit_of(name, page):
    """The translation unit of a page."""
    declared, first = [], True
    for number, parts in enumerate(blocks_of(page), 1):
        if first and not re.search(r"^\s*#\s*include", parts[-1][1], re.MULTILINE):
            declared.append(PREAMBLE)
        first = False
        body, plain_body = [], ""
        for line, code in parts:
            for at, text, plain in items_of(line, code):
                placed = f'#line {at} "{name}"\n{text}\n'
                if DECLARATION.match(plain):
                    declared.append(placed)
                else:
                    body.append(placed)
                    plain_body += plain + "\n"
        if body:
            own_app = re.search(r"\bApp app\b", plain_body)
            take = "" if own_app else "[[maybe_unused]] App& app"
            returns = re.search(r"^return\b", plain_body, re.MULTILINE)
            given = "" if own_app else "std::declval<App&>()"
            check = f"static_assert(Replyable<decltype(block_{number}({given}))>);\n"
            # Where the block stands, so that it cannot use what follows.
            declared.append(f"auto block_{number}({take}) {{\n{''.join(body)}}}\n{check if returns else ''}")
    return "".join(declared)


def command_of(commands, like):
    """The words that compile `like`, without what names its input and output; and the folder to run them in."""
    for entry in json.loads(pathlib.Path(commands).read_text(encoding="utf-8")):
        if pathlib.Path(entry["directory"], entry["file"]).resolve() == pathlib.Path(like).resolve():
            words = entry.get("arguments") or shlex.split(entry["command"])
            kept, at = [], 0
            while at < len(words):
                if words[at] in ("-o", "-MF", "-MT", "-MQ"):
                    at += 1
                elif words[at] not in ("-c", "-MD", "-MMD", entry["file"]):
                    kept.append(words[at])
                at += 1
            return kept, entry["directory"]
    raise SystemExit(f"{commands} does not compile {like}")


def compiled(name, page, options):
    """What is wrong with a page, as the compiler says it; "" when nothing is."""
    try:
        text = unit_of(name, page)
    except PageError as error:
        return f"{name}:{error}\n"
    unit = pathlib.Path(options.out, pathlib.PurePath(name).stem + ".cc").resolve()
    unit.parent.mkdir(parents=True, exist_ok=True)
    unit.write_text(text, encoding="utf-8")
    words, folder = command_of(options.commands, options.like)
    words += ["-Werror", "-fsyntax-only", str(unit)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return (done.stderr or f"status {done.returncode}\n") if done.returncode else ""


RIGHT = """# Page
<!-- guide:
std::string load(int id);
const char* suffix = "}";
-->
```cpp
App app;
app.get("/{id}", [&](Path<int> id) { return load(*id) + suffix; });  // it's 10'000 {
```
```cpp
struct Cat { int lives = 10'000; };
template <>
struct violet::Respond<Cat> {
  static violet::Body body(violet::Exchange&, Cat&& cat) { return violet::Slice::of(std::to_string(cat.lives)); }
};
app.get("/cat", [] { return Cat{}; });
if (app.is_ready()) { app.stop(); } else { app.wait(); }
```
<!-- guide: not compiled: shows what is refused -->
```cpp
app.nonsense();
```
```cpp
return Reply("saved").status(Status::Created);
return Cat{} .lives > 9 ? Reply("alive") : Reply(Status::Gone);
```
```sh
make nonsense
```
"""

# Each line that ends with WRONG has to be named, and no other.
WRONG = """```cpp
app.gett("/", [] { return ""; });  // WRONG
```
text
```cpp
app.get("/", [] { return missing(); });  // WRONG
App second = nothing();  // WRONG
```
```cpp
std::string text() { return 1 + Nothing(); }  // WRONG
```
<!-- guide:
int count();
-->
```cpp
count("one");  // WRONG
```
"""
NO_REPLY = "```cpp\nreturn std::pair(1, 2);\n```\n"
UNUSED = "```cpp\nint unused = 1;\n```\n"
MALFORMED = (
    ("```cpp\nint a;\n", "1: a block that does not end"),
    ("<!-- guide: not compiled: -->\n```cpp\nint a;\n```\n", "1: not compiled, without a reason"),
    ("<!-- guide:\nint a;\n", "1: a comment that does not end"),
    ("<!-- guide:\nint a;\n-->\n", "1: a comment that no block follows"),
    ("<!-- guide:\nint a;\n-->\n```sh\nls\n```\n", "1: a comment that no block follows"),
    ("```c++\nint a;\n```\n", "1: write ```cpp"),
)


def self_test(options):
    failures = []
    said = compiled("right.md", RIGHT, options)
    if said:
        failures.append(f"a right page is refused:\n{said}")
    said = compiled("wrong.md", WRONG, options)
    named = {int(line) for line in re.findall(r"^(?:\S*/)?wrong\.md:(\d+):\d+: error: ", said, re.MULTILINE)}
    wanted = {number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("WRONG")}
    if named != wanted:
        failures.append(f"errors expected in the lines {sorted(wanted)}, found in {sorted(named)}:\n{said}")
    for page, wanted in ((NO_REPLY, "static assertion failed"), (UNUSED, "unused variable")):
        said = compiled("refused.md", page, options)
        if wanted not in said:
            failures.append(f"expected '{wanted}', got:\n{said}")
    for page, wanted in MALFORMED:
        said = compiled("malformed.md", page, options)
        if said != f"malformed.md:{wanted}\n":
            failures.append(f"expected '{wanted}', got '{said}'")
    print("\n".join(failures) or f"{4 + len(MALFORMED)} cases, none failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="?")
    parser.add_argument("--commands", required=True)
    parser.add_argument("--like", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test(options)
    said = compiled(options.page, pathlib.Path(options.page).read_text(encoding="utf-8"), options)
    print(said, end="")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
