#!/usr/bin/env python3
"""Makes what the arena's entry reads: the data set of its JSON (tools/arena/dataset.py), and the files that it serves
below /static, with the names, the sizes and, about, the compressibility that its contract gives (docs/performance.md),
each with its .br and .gz twins. The same bytes on every machine and every run.

    tools/make_arena_data.py DIR          writes DIR/dataset.json and DIR/static/
    tools/make_arena_data.py --self-test  proves that sizes, names and repetition hold

The texts are what they say they are (style sheets, scripts, pages), so that a browser takes them; the pictures and
fonts are noise behind the right first bytes. Twins are made by gzip -9 and, where there is one, brotli -q 11.
"""

import argparse
import gzip
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True

from arena import dataset  # noqa: E402

# name, bytes, bytes of its .br twin in the arena (0: it has none)
FILES = (
    ("reset.css", 8192, 2420),
    ("layout.css", 25600, 5615),
    ("theme.css", 18432, 4520),
    ("components.css", 204800, 33268),
    ("utilities.css", 61440, 11595),
    ("analytics.js", 12288, 3899),
    ("helpers.js", 22528, 6612),
    ("app.js", 204800, 47275),
    ("vendor.js", 307200, 67294),
    ("router.js", 35840, 9665),
    ("header.html", 122880, 9390),
    ("footer.html", 56320, 6974),
    ("logo.svg", 15344, 3028),
    ("icon-sprite.svg", 71680, 11739),
    ("manifest.json", 2883, 735),
    ("regular.woff2", 18432, 0),
    ("bold.woff2", 22528, 0),
    ("hero.webp", 46080, 0),
    ("thumb1.webp", 8192, 0),
    ("thumb2.webp", 6144, 0),
)
TOLERANCE = 0.15  # of the compressed size
# Items, factor, bytes of the arena's answer.
ANSWERS = ((5, 7, 888), (10, 2, 1695), (15, 5, 2556), (25, 4, 4190), (40, 8, 6707), (50, 6, 8397))
ANSWER_TOLERANCE = 0.05
NEAR = 200  # pieces back that are repeated: within the window of every compressor

WORDS = (
    "align anchor banner border bottom button canvas center color column content cursor display dialog double element "
    "filter focus footer frame gap grid gutter header hidden hover icon image index inline inner input item label layer "
    "layout left level limit line list main margin media menu middle modal model none normal number option order outer "
    "overlay padding page panel parent path pixel plain point portal primary radius range render request reset right "
    "router scale scroll search section select shadow sheet shift sidebar size slide solid source space stack start "
    "state stretch style submit surface switch table target theme title toggle token top track value vector view width"
).split()


class Chance:
    """Numbers that are the same everywhere: a hash of a name and a counter."""

    def __init__(self, name):
        self.name = name
        self.count = 0
        self.left = b""

    def byte(self):
        if not self.left:
            self.left = hashlib.sha256(f"{self.name}/{self.count}".encode()).digest()
            self.count += 1
        value, self.left = self.left[0], self.left[1:]
        return value

    def below(self, limit):
        return (self.byte() << 16 | self.byte() << 8 | self.byte()) % limit

    def word(self):
        return WORDS[self.below(len(WORDS))]

    def noise(self, size):
        return b"".join(hashlib.sha256(f"{self.name}:{i}".encode()).digest() for i in range(size // 32 + 1))[:size]


def css_piece(chance):
    a, b, c = chance.word(), chance.word(), chance.word()
    return f".{a}-{b} .{c} {{ {chance.word()}: {chance.below(400)}px; color: #{chance.below(1 << 24):06x}{chance.below(256):02x}; }}\n"


def js_piece(chance):
    a, b, c = chance.word(), chance.word(), chance.word()
    value = f"0x{chance.below(1 << 24):06x}{chance.below(1 << 24):06x}, {chance.below(1 << 20)}"
    return f"export function {a}{b.title()}({c}) {{ return {c}.{chance.word()}({value}, '{chance.word()}'); }}\n"


def html_piece(chance):
    a, b, c = chance.word(), chance.word(), chance.word()
    return f'<div class="{a}"><a href="/{b}/{chance.below(1000)}">{c} {chance.word()}</a></div>\n'


def svg_piece(chance):
    numbers = " ".join(str(chance.below(640)) for _ in range(8))
    return f'<path id="{chance.word()}-{chance.below(999)}" d="M{numbers}z"/>\n'


def json_piece(chance):
    return f'  "{chance.word()}-{chance.below(999)}": "{chance.word()} {chance.word()}",\n'


KINDS = {
    ".css": ("/* made for the arena */\n", css_piece, "", "/*", "*/\n"),
    ".js": ("// made for the arena\n", js_piece, "", "/*", "*/\n"),
    ".html": ("<!doctype html>\n<title>arena</title>\n", html_piece, "", "<!--", "-->\n"),
    ".svg": ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 640">\n', svg_piece, "</svg>\n", "<!--", "-->\n"),
    ".json": ("{\n", json_piece, '  "end": true\n}\n', "", ""),
}
MAGIC = {".woff2": b"wOF2\0\1\0\0", ".webp": b"RIFF\0\0\0\0WEBPVP8 "}


def text_with(name, size, repeats):
    """A text of `size` bytes in which about `repeats` of 1000 pieces stood there before."""
    chance = Chance(f"{name} {repeats}")
    head, piece, foot, opening, closing = KINDS[pathlib.PurePath(name).suffix]
    pieces, text = [], head
    while True:
        is_old = pieces and chance.below(1000) < repeats
        line = pieces[-1 - chance.below(min(len(pieces), NEAR))] if is_old else piece(chance)
        if not is_old:
            pieces.append(line)
        if len(text) + len(line) + len(foot) + len(opening) + len(closing) > size:
            break
        text += line
    gap = size - len(text) - len(foot)
    filling = " " * gap if not opening else opening + "." * (gap - len(opening) - len(closing)) + closing
    return (text + filling + foot).encode()


def make(name, size, twin):
    """The bytes of a file: as compressible as zlib, which every Python has in the same version, can tell."""
    suffix = pathlib.PurePath(name).suffix
    if suffix in MAGIC:
        return MAGIC[suffix] + Chance(name).noise(size - len(MAGIC[suffix]))
    wanted = twin * 1.2  # what zlib makes of what brotli makes `twin` bytes of
    low, high = 0, 1000
    for _ in range(10):
        middle = (low + high) // 2
        if len(zlib.compress(text_with(name, size, middle), 9)) > wanted:
            low = middle
        else:
            high = middle
    return text_with(name, size, high)


def twins_of(data):
    """{extension: bytes}; no .br where there is no brotli."""
    twins = {".gz": gzip.compress(data, 9, mtime=0)}
    if shutil.which("brotli"):
        command = ["brotli", "-q", "11", "-w", "24", "-c"]
        twins[".br"] = subprocess.run(command, input=data, check=True, capture_output=True, timeout=120).stdout
    return twins


def write(folder):
    static = folder / "static"
    static.mkdir(parents=True, exist_ok=True)
    for name, size, twin in FILES:
        data = make(name, size, twin)
        (static / name).write_bytes(data)
        if twin:
            # Behind their file: one that is older than it would not be served.
            for extension, bytes_ in twins_of(data).items():
                (static / (name + extension)).write_bytes(bytes_)
    dataset.write(folder / "dataset.json")
    return static


def wrong_data_set(path):
    """What is not as the contract has it: what a client gets of `count` items with factor `m` has about those bytes."""
    items = json.loads(path.read_text(encoding="utf-8"))
    if items != dataset.items():
        yield "dataset.json: not the items of tools/arena/dataset.py"
    for count, m, wanted in ANSWERS:
        answer = [dict(item, total=item["price"] * item["quantity"] * m) for item in items[:count]]
        size = len(json.dumps({"items": answer, "count": count}, separators=(",", ":")))
        if abs(size / wanted - 1) > ANSWER_TOLERANCE:
            yield f"/json/{count}?m={m}: {size} bytes, not about {wanted}"


def self_test():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        static = write(pathlib.Path(folder))
        wrong.extend(wrong_data_set(pathlib.Path(folder, "dataset.json")))
        again = {name: make(name, size, twin) for name, size, twin in FILES[:3]}
        for name, size, twin in FILES:
            data = (static / name).read_bytes()
            if len(data) != size:
                wrong.append(f"{name}: {len(data)} bytes, not {size}")
            if name in again and again[name] != data:
                wrong.append(f"{name}: another one the second time")
            made = static / (name + ".br")
            if bool(twin) != (static / (name + ".gz")).exists():
                wrong.append(f"{name}: twins {'missing' if twin else 'that should not be there'}")
            if twin and made.exists() and abs(made.stat().st_size / twin - 1) > TOLERANCE:
                wrong.append(f"{name}: {made.stat().st_size} bytes of brotli, not about {twin}")
    print("\n".join(wrong) or f"{len(FILES)} files, {sum(size for _, size, _ in FILES):,} bytes")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.folder is None:
        parser.error("where to?")
    print(f"made {len(FILES)} files in {write(options.folder)}, and dataset.json beside it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
