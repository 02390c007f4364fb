"""The stand-in's files: a folder of its own with what the contract names, and the faults of serving it."""

import gzip
import pathlib
import tempfile
import urllib.parse

from .static import FILES

FAULTS = {
    "static_type": "calls every file text/plain",
    "static_encodes_unasked": "compresses for everybody",
    "static_wrong_twin": "sends the twin of another file",
    "static_finds_all": "answers 200 for what is not there",
    "static_stale": "keeps what it has read for ever",
    "static_stale_twin": "keeps the twins that it has read for ever",
}


class StaticFolder:
    def __init__(self, fault):
        self.fault = fault
        self.kept = {}
        self.temporary = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.temporary.name)
        for name, size, kind in FILES:
            data = (name.encode() + b" ") * (size // (len(name) + 1) + 1)
            (self.path / name).write_bytes(data[:size])
            if not kind.startswith(("font/", "image/webp")):
                (self.path / f"{name}.gz").write_bytes(gzip.compress(data[:size], mtime=0))

    def close(self):
        self.temporary.cleanup()

    def read(self, name):
        keeps = self.fault == ("static_stale_twin" if name.endswith(".gz") else "static_stale")
        if not keeps:
            return (self.path / name).read_bytes()
        if name not in self.kept:
            self.kept[name] = (self.path / name).read_bytes()
        return self.kept[name]

    def answer(self, request, path):
        name = urllib.parse.unquote(path[len("/static/") :])
        kinds = {each: kind for each, _, kind in FILES}
        if name not in kinds:
            if self.fault == "static_finds_all":
                return b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        asked = "gzip" in request.fields.get("accept-encoding", "") or self.fault == "static_encodes_unasked"
        encodes = asked and (self.path / f"{name}.gz").exists()
        twin = "reset.css" if self.fault == "static_wrong_twin" else name
        body = self.read(f"{twin}.gz" if encodes else name)
        kind = "text/plain" if self.fault == "static_type" else kinds[name]
        coding = "Content-Encoding: gzip\r\n" if encodes else ""
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{coding}Content-Length: {len(body)}\r\n\r\n"
        return head.encode() + body
