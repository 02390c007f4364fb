#!/usr/bin/env python3
"""run.py ENCODE: what violet encodes is read by decoders of other make: Python's zlib, and the commands brotli and zstd."""

import subprocess
import sys
import zlib

TEXTS = {
    "one byte": b"a",
    "json": b'{"id":1,"name":"alpha beta","tags":["new","sale"]},' * 200,
    "zeros": bytes(300_000),
    "all bytes": bytes(range(256)) * 40,
}
LEVELS = {"gzip": (1, 6, 9), "deflate": (1, 6, 9), "br": (0, 5, 11), "zstd": (-1, 3, 19)}


def run(command, data):
    return subprocess.run(command, input=data, capture_output=True, timeout=60, check=True).stdout


def decode(coding, data):
    if coding in ("gzip", "deflate"):
        decoder = zlib.decompressobj(31 if coding == "gzip" else 15)
        text = decoder.decompress(data) + decoder.flush()
        return text if decoder.eof and not decoder.unused_data else None
    return run({"br": ["brotli", "-d", "-c"], "zstd": ["zstd", "-d", "-c", "-q"]}[coding], data)


def main():
    program = sys.argv[1]
    checked = 0
    for coding, levels in LEVELS.items():
        for level in levels:
            for name, text in TEXTS.items():
                for piece in ("0", "1000"):
                    encoded = run([program, coding, str(level), piece], text)
                    if decode(coding, encoded) != text:
                        sys.exit(f"{coding} level {level}, {name}, pieces of {piece}: another decoder reads something else")
                    checked += 1
    print(f"{checked} bodies read by decoders of other make")


if __name__ == "__main__":
    main()
