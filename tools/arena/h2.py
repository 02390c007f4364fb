"""HTTP/2 as far as checking a server needs it (RFC 9113): frames as they are, and a client over them on asyncio."""

import asyncio
import collections
import struct
import time

from . import hpack
from .wire import Answer, Failure, require

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, HAS_PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR,
 REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM) = range(12)  # fmt: skip
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = range(1, 6)

Frame = collections.namedtuple("Frame", "kind flags stream payload")


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", name, value) for name, value in pairs))


def window_update(stream, size):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size))


def reset(stream, code=CANCEL):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", code))


def head(method, path, *fields, scheme="http", authority="localhost"):
    lines = [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority), *fields]
    return hpack.encode(lines)


def request(stream, method, path, *fields, body=None, **more):
    """HEADERS, and DATA in frames of 16,384 bytes at most."""
    flags = END_HEADERS | (END_STREAM if body is None else 0)
    out = frame(HEADERS, flags, stream, head(method, path, *fields, **more))
    if body is not None:
        pieces = [body[i : i + 16384] for i in range(0, len(body), 16384)] or [b""]
        for index, piece in enumerate(pieces):
            out += frame(DATA, END_STREAM if index + 1 == len(pieces) else 0, stream, piece)
    return out


def code_of(goaway_or_reset):
    return struct.unpack(">I", goaway_or_reset.payload[-4:] if goaway_or_reset.kind == RST_STREAM
                         else goaway_or_reset.payload[4:8])[0]  # fmt: skip


async def connect(entry):
    """A session on a new connection to the listener, with TLS where it has that."""
    wire = await entry.connect()
    session = Session(wire.reader, wire.writer, entry.timeout)
    try:
        return await session.open()
    except Failure:
        session.close()
        raise


class Session:
    """A client on one connection. Windows are opened as wide as they go, so that only the server's count."""

    def __init__(self, reader, writer, timeout):
        self.reader = reader
        self.writer = writer
        self.timeout = timeout
        self.decoder = hpack.Decoder()
        self.next_stream = 1
        self.answers = {}  # of streams that are not whole: [status, fields, body]
        self.started_at = {}

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    async def open(self):
        window = settings((ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, 0x7FFFFFFF))
        self.writer.write(PREFACE + window + window_update(0, 0x7FFF0000 - 65535))
        first = await self.read_frame()
        require(
            first.kind == SETTINGS and not first.flags & ACK, f"the first frame is of type {first.kind}, not SETTINGS"
        )
        self.writer.write(frame(SETTINGS, ACK))
        return self

    def send(self, method, path, *fields, body=None, **more):
        """Begins a request; the number of its stream."""
        if self.writer.transport.is_closing():
            raise Failure("the connection was closed")
        stream = self.next_stream
        self.next_stream += 2
        self.started_at[stream] = time.monotonic()
        self.writer.write(request(stream, method, path, *fields, body=body, **more))
        return stream

    async def answer(self, stream):
        """The whole answer of one stream; those of others are kept until they are asked for."""
        while True:
            kept = self.answers.get(stream)
            if kept is not None and kept[3]:
                del self.answers[stream]
                return Answer(kept[0], kept[1], bytes(kept[2]), kept[3] - self.started_at[stream])
            self.take(await self.read_frame())

    async def exchange(self, method, path, *fields, body=None, **more):
        return await self.answer(self.send(method, path, *fields, body=body, **more))

    async def read_frame(self):
        try:
            start = await asyncio.wait_for(self.reader.readexactly(9), self.timeout)
            size = int.from_bytes(start[:3], "big")
            payload = await asyncio.wait_for(self.reader.readexactly(size), self.timeout)
        except TimeoutError:
            raise Failure(f"nothing for {self.timeout:g} s while waiting for a frame") from None
        except asyncio.IncompleteReadError as error:
            raise Failure(f"the connection was closed after {len(error.partial)} bytes of a frame") from None
        except ConnectionError as error:
            raise Failure(f"{type(error).__name__} while waiting for a frame") from None
        return Frame(start[3], start[4], int.from_bytes(start[5:9], "big") & 0x7FFFFFFF, payload)

    def take(self, got):
        if got.kind == SETTINGS and not got.flags & ACK:
            self.writer.write(frame(SETTINGS, ACK))
        elif got.kind == PING and not got.flags & ACK:
            self.writer.write(frame(PING, ACK, 0, got.payload))
        elif got.kind == GOAWAY:
            raise Failure(f"GOAWAY with code {code_of(got)}")
        elif got.kind == RST_STREAM:
            raise Failure(f"stream {got.stream} was reset with code {code_of(got)}")
        elif got.kind in (HEADERS, DATA):
            self.take_message(got)

    def take_message(self, got):
        require(not got.flags & (PADDED | HAS_PRIORITY), "padding or a priority, which nobody asked for")
        kept = self.answers.setdefault(got.stream, [0, {}, bytearray(), 0.0])
        if got.kind == DATA:
            kept[2] += got.payload
        else:
            require(got.flags & END_HEADERS, "a head in more than one frame")
            try:
                lines = self.decoder.decode(got.payload)
            except hpack.Broken as error:
                raise Failure(f"a head that cannot be decoded: {error}") from None
            for name, value in lines:
                require(name == name.lower(), f"field name {name!r}")
                if name == ":status":
                    kept[0] = int(value)
                else:
                    kept[1][name] = value
        if got.flags & END_STREAM:
            kept[3] = time.monotonic()

    def close(self):
        self.writer.close()
