"""static: twenty files by name and size, compressed where the client takes it, and never older than the disk."""

import asyncio
import contextlib
import gzip
import os
import pathlib
import shutil
import subprocess
import time

from .registry import check
from .wire import Failure, request, require

# name, bytes, media type
FILES = (
    ("reset.css", 8192, "text/css"),
    ("layout.css", 25600, "text/css"),
    ("theme.css", 18432, "text/css"),
    ("components.css", 204800, "text/css"),
    ("utilities.css", 61440, "text/css"),
    ("analytics.js", 12288, "text/javascript"),
    ("helpers.js", 22528, "text/javascript"),
    ("app.js", 204800, "text/javascript"),
    ("vendor.js", 307200, "text/javascript"),
    ("router.js", 35840, "text/javascript"),
    ("header.html", 122880, "text/html"),
    ("footer.html", 56320, "text/html"),
    ("logo.svg", 15344, "image/svg+xml"),
    ("icon-sprite.svg", 71680, "image/svg+xml"),
    ("manifest.json", 2883, "application/json"),
    ("regular.woff2", 18432, "font/woff2"),
    ("bold.woff2", 22528, "font/woff2"),
    ("hero.webp", 46080, "image/webp"),
    ("thumb1.webp", 8192, "image/webp"),
    ("thumb2.webp", 6144, "image/webp"),
)
ACCEPT = "Accept-Encoding: br;q=1, gzip;q=0.8"
STALE_SECONDS_MAX = 2.0


async def get(entry, name, *lines):
    answer = await entry.exchange(request("GET", f"/static/{name}", *lines))
    require(answer.status == 200, f"status {answer.status} for {name}")
    return answer


def decoded(answer, name):
    """The bytes of the file behind a Content-Encoding; None where nothing here can decode it."""
    coding = answer.fields.get("content-encoding")
    if coding is None:
        return answer.body
    try:
        if coding == "gzip":
            return gzip.decompress(answer.body)
        if coding == "br":
            if not shutil.which("brotli"):
                return None
            command = ["brotli", "-d", "-c"]
            return subprocess.run(command, input=answer.body, check=True, capture_output=True, timeout=20).stdout
    except (OSError, EOFError, subprocess.CalledProcessError):
        raise Failure(f"the {coding} of {name} cannot be decoded") from None
    raise Failure(f"{name} came as {coding}, which nobody asked for")


@check("static.types", "every file has its media type, compressed or not", "static_type")
async def types(entry, random):
    for name, _, kind in FILES:
        for lines in ((), (ACCEPT,)):
            answer = await get(entry, name, *lines)
            if answer.fields.get("content-type", "").startswith("application/javascript"):
                continue  # the old name of the same
            answer.expect_type(kind)


@check("static.sizes", "without Accept-Encoding every file comes as it lies on the disk", "static_encodes_unasked")
async def sizes(entry, random):
    for name, size, _ in FILES:
        answer = await get(entry, name)
        require("content-encoding" not in answer.fields, f"{name} is encoded although nobody asked")
        require(len(answer.body) == size, f"{len(answer.body)} bytes of {name}, expected {size}")


@check("static.compressed", "with Accept-Encoding every file is, once decoded, the same", "static_wrong_twin")
async def compressed(entry, random):
    saved = 0
    for name, size, _ in FILES:
        plain = await get(entry, name)
        answer = await get(entry, name, ACCEPT)
        text = decoded(answer, name)
        require(text is None or text == plain.body, f"{name} is another file when it is compressed")
        saved += size - len(answer.body)
    return f"{saved:,} bytes saved"


@check("static.not_found", "a file that is not there is a 404", "static_finds_all")
async def not_found(entry, random):
    for name in ("nonexistent.txt", "../reset.css", "%2e%2e/reset.css", "css/../reset.css", "reset.css/"):
        answer = await entry.exchange(request("GET", f"/static/{name}"))
        require(answer.status in (400, 404), f"status {answer.status} for {name}")
    answer = await entry.exchange(request("GET", "/static/nonexistent.txt"))
    require(answer.status == 404, f"status {answer.status} for nonexistent.txt")


@contextlib.contextmanager
def replaced(folder, names, random):
    """Other bytes of the same length under these names, by rename as deployments do it; the old ones come back."""
    kept = {name: folder / f"{name}.kept" for name in names}
    new = {}
    for name, path in kept.items():
        os.link(folder / name, path)
        new[name] = random.randbytes((folder / name).stat().st_size)
        (folder / f"{name}.new").write_bytes(new[name])
    try:
        for name in names:
            os.rename(folder / f"{name}.new", folder / name)
        yield new
    finally:
        for name, path in kept.items():
            os.rename(path, folder / name)


async def wait_for(entry, name, lines, wanted, what):
    """Seconds until `wanted`, a set of bodies, is what comes."""
    began = time.monotonic()
    while True:
        body = (await get(entry, name, *lines)).body
        passed = time.monotonic() - began
        if body in wanted:
            return passed
        require(passed <= STALE_SECONDS_MAX, f"{name}: {what} does not come within {STALE_SECONDS_MAX:g} s")
        await asyncio.sleep(0.02)


async def probe(entry, random, name, endings, lines):
    folder = pathlib.Path(entry.static or "")
    require(entry.static and os.access(folder / name, os.R_OK), "needs the folder that is served: --static DIR")
    before = (await get(entry, name, *lines)).body
    names = [name + ending for ending in ("", *endings) if (folder / (name + ending)).exists()]
    with replaced(folder, names, random) as new:
        first = await wait_for(entry, name, lines, set(new.values()), "what has taken its place")
    second = await wait_for(entry, name, lines, {before}, "what was there before")
    return f"{max(first, second) * 1000:.0f} ms at most"


@check("static.stale", "a replaced file of the same length shows within 2 s, and so does the old one again", "static_stale")
async def stale(entry, random):
    return await probe(entry, random, "hero.webp", (), ())


@check("static.stale_twin", "so it does for a file with compressed twins", "static_stale_twin")
async def stale_twin(entry, random):
    return await probe(entry, random, "app.js", (".br", ".gz"), (ACCEPT,))
