"""echo-ws, echo-ws-pipeline, echo-ws-limited: WebSocket echo on /ws (RFC 6455)."""

import asyncio
import base64
import hashlib
import struct

from .registry import check
from .wire import Failure, request, require, short

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE = 0x81, 0x82, 0x88


def masked(first, payload, random):
    key = random.randbytes(4)
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0xFE, size)
    require(size < 65536, "a frame too long for this check")
    return bytes([first]) + length + key + bytes(byte ^ key[i % 4] for i, byte in enumerate(payload))


class Socket:
    """A WebSocket over a Wire."""

    def __init__(self, wire, random):
        self.wire = wire
        self.random = random

    async def send(self, first, payload):
        await self.wire.write(masked(first, payload, self.random))

    async def frame(self):
        try:
            first, second = await self._read(2)
            require(second < 0x80, "a masked frame from the server")
            size = second
            if second == 126:
                (size,) = struct.unpack(">H", await self._read(2))
            require(size < 65536, f"a frame of {size} bytes")
            return first, await self._read(size)
        except asyncio.IncompleteReadError:
            raise Failure("the connection was closed in place of a frame") from None

    async def expect(self, first, payload):
        found = await self.frame()
        require(found == (first, payload), f"frame {found[0]:#x} {short(found[1])}, expected {first:#x} {short(payload)}")

    async def _read(self, size):
        return await self.wire._bounded(self.wire.reader.readexactly(size), "waiting for a frame")


async def upgraded(entry, random):
    wire = await entry.connect()
    key = base64.b64encode(random.randbytes(16))
    await wire.write(
        request("GET", "/ws", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key.decode()}",
                "Sec-WebSocket-Version: 13")
    )  # fmt: skip
    answer = await wire.answer(skip_informational=False)
    require(answer.status == 101, f"status {answer.status}, expected 101")
    accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
    found = answer.fields.get("sec-websocket-accept")
    require(found == accept, f"Sec-WebSocket-Accept {found!r}, expected {accept!r}")
    require(answer.fields.get("upgrade", "").lower() == "websocket", "no Upgrade: websocket in the answer")
    require("upgrade" in answer.fields.get("connection", "").lower(), "no Connection: Upgrade in the answer")
    return Socket(wire, random)


def word(random):
    return bytes(random.choice(b"abcdefghijklmnopqrstuvwxyz") for _ in range(random.randint(1, 100)))


@check("ws.plain_get", "GET /ws without an upgrade is refused", "ws_page")
async def plain_get(entry, random):
    (await entry.exchange(request("GET", "/ws"))).expect_refused()


@check("ws.upgrade", "the answer is 101 with the accept value of each key", "ws_accept")
async def upgrade(entry, random):
    for _ in range(5):
        (await upgraded(entry, random)).wire.close()


@check("ws.text", "text comes back unchanged", "ws_text")
async def text(entry, random):
    socket = await upgraded(entry, random)
    for payload in (b"hello", word(random), "schön €😀".encode(), b"x" * 126, b""):
        await socket.send(TEXT, payload)
        await socket.expect(TEXT, payload)
    socket.wire.close()


@check("ws.binary", "256 random bytes come back unchanged, as binary", "ws_binary")
async def binary(entry, random):
    socket = await upgraded(entry, random)
    for size in (256, 1, 60_000):
        payload = random.randbytes(size)
        await socket.send(BINARY, payload)
        await socket.expect(BINARY, payload)
    socket.wire.close()


@check("ws.order", "five texts sent back to back come back in order", "ws_reversed")
async def order(entry, random):
    socket = await upgraded(entry, random)
    texts = [word(random) + str(i).encode() for i in range(5)]
    await socket.wire.write(b"".join(masked(TEXT, payload, random) for payload in texts))
    for payload in texts:
        await socket.expect(TEXT, payload)
    socket.wire.close()


@check("ws.pipeline", "bursts of 16 frames in one write are all echoed", "ws_first_only")
async def pipeline(entry, random):
    socket = await upgraded(entry, random)
    for _ in range(20):
        await socket.wire.write(b"".join(masked(TEXT, b"hello", random) for _ in range(16)))
        for _ in range(16):
            await socket.expect(TEXT, b"hello")
    await socket.wire.expect_silence(0.05)
    socket.wire.close()


@check("ws.split", "a frame cut in two at every byte", "ws_needs_whole_frame")
async def split(entry, random):
    socket = await upgraded(entry, random)
    frame = masked(TEXT, b"hello", random)
    for offset in range(1, len(frame)):
        await socket.wire.write_pieces([frame[:offset], frame[offset:]], 0.02)
        await socket.expect(TEXT, b"hello")
    socket.wire.close()


@check("ws.close", "a Close with 1000 ends the connection", "ws_no_close")
async def close(entry, random):
    socket = await upgraded(entry, random)
    await socket.send(CLOSE, struct.pack(">H", 1000))
    # The answer is not asserted; the end is.
    rest = await socket.wire._bounded(socket.wire.reader.read(-1), "waiting for the end of the connection")
    require(len(rest) <= 127, f"bytes behind the Close: {short(rest)}")


@check("ws.limited", "50 clients send ten messages each, then connect anew, three times", "ws_nine_messages")
async def limited(entry, random):
    async def client():
        for _ in range(3):
            socket = await upgraded(entry, random)
            for _ in range(10):
                await socket.send(TEXT, b"hello")
                await socket.expect(TEXT, b"hello")
            socket.wire.close()

    await asyncio.gather(*(client() for _ in range(50)))
    return "1,500 messages, 150 connections"
