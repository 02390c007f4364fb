"""Peer: a client of HTTP/2 that sends exactly the bytes it is given, and what cases may expect of the server."""

import asyncio
import ssl
import typing

from arena import h2, hpack, secure
from arena.wire import Failure, require

QUICK_SECONDS = 10.0  # for what the server does at once; busy machines take their time
FLOOD_SECONDS = 20.0  # for the server to have enough of a flood


class Target(typing.NamedTuple):
    """Where the server listens; `pid` of its process, 0 when it is not known."""

    port: int
    is_secure: bool
    pid: int = 0

    async def connect(self):
        context = secure.context(("h2",)) if self.is_secure else None
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=context, limit=1 << 20)
        if self.is_secure:
            chosen = writer.get_extra_info("ssl_object").selected_alpn_protocol()
            require(chosen == "h2", f"ALPN chose {chosen!r}")
        return Peer(reader, writer)

    async def open(self, *pairs):
        """A connection on which both prefaces have been exchanged."""
        peer = await self.connect()
        peer.send(h2.PREFACE + h2.settings(*pairs))
        first = await peer.frame()
        require(
            first is not None and first.kind == h2.SETTINGS and not first.flags, f"SETTINGS come first, not {first}"
        )
        values = first.payload
        for i in range(0, len(values), 6):
            peer.settings[int.from_bytes(values[i : i + 2], "big")] = int.from_bytes(values[i + 2 : i + 6], "big")
        peer.send(h2.frame(h2.SETTINGS, h2.ACK))
        return peer


class Peer:
    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.settings = {}
        self.decoder = hpack.Decoder()
        self.heads = {}
        self.bodies = {}
        self.ended = set()

    def send(self, data):
        if not self.writer.transport.is_closing():
            self.writer.write(data)

    async def drain(self):
        """For much at once. A server that has closed is none of its business."""
        try:
            await asyncio.wait_for(self.writer.drain(), QUICK_SECONDS)
        except (TimeoutError, ConnectionError):
            pass

    def close(self):
        self.writer.transport.abort()

    async def frame(self, seconds=QUICK_SECONDS):
        """The next one; None at the end of the connection."""
        try:
            start = await asyncio.wait_for(self.reader.readexactly(9), seconds)
            payload = await asyncio.wait_for(self.reader.readexactly(int.from_bytes(start[:3], "big")), seconds)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            return None
        except TimeoutError:
            raise Failure(f"nothing for {seconds:g} s") from None
        got = h2.Frame(start[3], start[4], int.from_bytes(start[5:9], "big") & 0x7FFFFFFF, payload)
        self._note(got)
        return got

    async def everything(self):
        """All bytes to the end of the connection."""
        try:
            return await asyncio.wait_for(self.reader.read(-1), QUICK_SECONDS)
        except TimeoutError:
            raise Failure("the connection stays open") from None
        except ConnectionError:
            return b""

    def _note(self, got):
        if got.kind == h2.HEADERS:
            lines = self.decoder.decode(got.payload)
            self.heads.setdefault(got.stream, []).append(dict(lines))
        if got.kind == h2.DATA:
            self.bodies[got.stream] = self.bodies.get(got.stream, b"") + got.payload
        if got.kind in (h2.HEADERS, h2.DATA) and got.flags & h2.END_STREAM:
            self.ended.add(got.stream)

    def status(self, stream):
        return int(self.heads[stream][-1 if ":status" in self.heads[stream][-1] else 0][":status"])

    async def until(self, wanted, seconds=QUICK_SECONDS):
        """The first frame that `wanted` takes; Failure when the connection ends before."""
        while True:
            got = await self.frame(seconds)
            require(got is not None, "the connection was closed")
            if wanted(got):
                return got
            if got.kind == h2.GOAWAY and h2.code_of(got) != h2.NO_ERROR:
                raise Failure(f"GOAWAY with code {h2.code_of(got)}")

    async def answer(self, stream, status=200, body=None, seconds=QUICK_SECONDS):
        while stream not in self.ended:
            got = await self.until(lambda any_frame: any_frame.stream == stream, seconds)
            if got.kind == h2.RST_STREAM:
                raise Failure(f"stream {stream} was reset with code {h2.code_of(got)}")
        require(self.status(stream) == status, f"status {self.status(stream)}, expected {status}")
        if body is not None:
            found = self.bodies.get(stream, b"")
            require(found == body, f"body {found[:60]!r} of {len(found)} bytes, expected {body[:60]!r} of {len(body)}")

    async def connection_error(self, *codes):
        """GOAWAY with one of the codes, or any, then the end. Without a GOAWAY the end alone will do only for `None`."""
        said = None
        while (got := await self.frame()) is not None:
            if got.kind == h2.GOAWAY and h2.code_of(got) != h2.NO_ERROR:
                said = h2.code_of(got)
        require(said is not None or None in codes, "closed without a GOAWAY that says why")
        require(said is None or not codes or said in codes, f"GOAWAY with code {said}, expected {codes}")

    async def stream_error(self, stream, *codes, or_status=0, or_connection=False):
        """RST_STREAM with one of the codes, or an answer of that status, or a connection error where that is right, too."""
        while True:
            got = await self.frame()
            if got is None or (got.kind == h2.GOAWAY and h2.code_of(got) != h2.NO_ERROR):
                require(or_connection, "the whole connection was ended")
                require(got is None or not codes or h2.code_of(got) in codes, "GOAWAY with another code")
                return
            if got.stream != stream:
                continue
            if got.kind == h2.RST_STREAM:
                require(not codes or h2.code_of(got) in codes, f"reset with code {h2.code_of(got)}, expected {codes}")
                return
            if got.kind == h2.HEADERS:
                status = self.status(stream)
                require(status == or_status, f"answered {status}")
                return

    async def is_alive(self, stream):
        """A PING comes back and a request is answered."""
        self.send(h2.frame(h2.PING, 0, 0, b"are you?"))
        await self.until(lambda got: got.kind == h2.PING and got.flags & h2.ACK and got.payload == b"are you?")
        self.send(h2.request(stream, "GET", "/baseline2?a=1&b=1"))
        await self.answer(stream, body=b"2")
