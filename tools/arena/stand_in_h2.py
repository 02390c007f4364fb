"""The same small entry for HTTP/2, with and without TLS; see stand_in.py."""

import asyncio
import urllib.parse

from . import h2, hpack
from .stand_in import StandIn

FAULTS = {
    "h2_sum": "adds one too many",
    "h2_type": "answers as text/html",
    "h2_constant": "knows only 13 + 42",
    "h2_mixed_up": "answers the first request on every stream",
    "h2_one_connection": "serves one connection at a time",
    "h2_not_agreed_on": "does not agree on h2",
    "h2c_speaks_h1": "answers HTTP/1.1 on the port of HTTP/2",
}


class StandInH2(StandIn):
    def make_tls(self):
        tls = super().make_tls()
        tls.set_alpn_protocols(["http/1.1"] if self.fault == "h2_not_agreed_on" else ["h2"])
        return tls

    async def serve_connection(self, reader, writer):
        if self.fault == "h2_one_connection" and len(self.writers) > 1:
            return
        try:
            await self.serve_frames(reader, writer)
        except asyncio.IncompleteReadError:
            pass  # the client has left

    async def serve_frames(self, reader, writer):
        decoder = hpack.Decoder()
        preface = await reader.readexactly(len(h2.PREFACE))
        if preface != h2.PREFACE:
            if self.fault == "h2c_speaks_h1":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n55")
            return
        writer.write(h2.settings((h2.MAX_CONCURRENT_STREAMS, 128)))
        while True:
            start = await reader.readexactly(9)
            payload = await reader.readexactly(int.from_bytes(start[:3], "big"))
            stream = int.from_bytes(start[5:9], "big")
            if start[3] == h2.SETTINGS and not start[4] & h2.ACK:
                writer.write(h2.frame(h2.SETTINGS, h2.ACK))
            elif start[3] == h2.HEADERS:
                writer.write(self.answer_stream(stream, dict(decoder.decode(payload))))
                await writer.drain()

    def answer_stream(self, stream, fields):
        url = urllib.parse.urlsplit(fields[":path"])
        query = dict(urllib.parse.parse_qsl(url.query))
        if self.fault == "h2_constant":
            query = {"a": 13, "b": 42}
        body = str(int(query["a"]) + int(query["b"]) + (self.fault == "h2_sum")).encode()
        if self.fault == "h2_mixed_up":
            self.latest_body = self.latest_body or body
            body = self.latest_body
        media = "text/html" if self.fault == "h2_type" else "text/plain"
        head = hpack.encode([(":status", "200"), ("content-type", media)])
        return h2.frame(h2.HEADERS, h2.END_HEADERS, stream, head) + h2.frame(h2.DATA, h2.END_STREAM, stream, body)
