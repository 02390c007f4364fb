"""Frames: their sizes, their places, and what each kind may hold (RFC 9113 §3.4, §4, §6)."""

import struct

from arena import h2, hpack

from peer import require
from registry import case, connection_error, harmless, stream_error

GET = h2.request(1, "GET", "/baseline2?a=1&b=1")
OPEN = h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.head("POST", "/upload"))  # a body is to follow
HEAD = h2.head("GET", "/baseline2?a=1&b=1")
BOTH = h2.END_HEADERS | h2.END_STREAM

# --- H2-D01, D02: prefaces (§3.4)


def bad_preface(name, title, data):
    @case(name, title)
    async def run(target):
        peer = await target.connect()
        peer.send(data)
        try:
            seen = await peer.everything()
            require(b"HTTP/1." not in seen, f"an answer in HTTP/1.1: {seen[:40]!r}")
        finally:
            peer.close()


bad_preface(
    "H2-D01.last_byte",
    "a preface whose last byte is wrong ends the connection",
    h2.PREFACE[:-1] + b"X" + h2.settings(),
)
bad_preface(
    "H2-D01.in_the_middle",
    "so does one that goes wrong in its middle",
    h2.PREFACE[:18] + b"XX\r\n\r\n" + h2.settings(),
)


def first_frame(name, title, data):
    @case(name, title)
    async def run(target):
        peer = await target.connect()
        peer.send(h2.PREFACE + data)
        try:
            await peer.connection_error(h2.PROTOCOL_ERROR, h2.FRAME_SIZE_ERROR, None)
        finally:
            peer.close()


first_frame("H2-D02.ping", "the first frame has to be SETTINGS, not PING", h2.frame(h2.PING, 0, 0, bytes(8)))
first_frame("H2-D02.headers", "nor HEADERS", GET)
first_frame("H2-D02.ack", "nor an acknowledgement", h2.frame(h2.SETTINGS, h2.ACK))
first_frame("H2-D02.too_large", "nor SETTINGS above the size of a frame", h2.frame(h2.SETTINGS, 0, 0, bytes(16386)))

# --- H2-D03, D10: SETTINGS (§6.5)


@case("H2-D03.acknowledged", "each SETTINGS is acknowledged, in order with PING")
async def acknowledged(target):
    peer = await target.open()
    await peer.until(lambda got: got.kind == h2.SETTINGS and got.flags & h2.ACK)
    for i in range(3):
        peer.send(h2.settings((h2.INITIAL_WINDOW_SIZE, 1000 + i)) + h2.frame(h2.PING, 0, 0, bytes([i] * 8)))
    seen = []
    while len(seen) < 6:
        got = await peer.frame()
        require(got is not None, "the connection was closed")
        if got.flags & h2.ACK:
            seen.append(got.kind)
    require(seen == [h2.SETTINGS, h2.PING] * 3, f"acknowledgements came as {seen}")
    peer.close()


def setting(name, title, pair, *codes):
    connection_error(f"H2-D10.{name}", title, h2.settings(pair), *codes)


connection_error(
    "H2-D03.ack_with_payload",
    "an acknowledgement has no payload",
    h2.frame(h2.SETTINGS, h2.ACK, 0, bytes(6)),
    h2.FRAME_SIZE_ERROR,
)
setting("enable_push_2", "ENABLE_PUSH is 0 or 1", (h2.ENABLE_PUSH, 2), h2.PROTOCOL_ERROR)
setting("frame_size_small", "MAX_FRAME_SIZE is at least 16,384", (h2.MAX_FRAME_SIZE, 16383), h2.PROTOCOL_ERROR)
setting("frame_size_large", "and at most 16,777,215", (h2.MAX_FRAME_SIZE, 1 << 24), h2.PROTOCOL_ERROR)
setting("window_large", "INITIAL_WINDOW_SIZE is below 2^31", (h2.INITIAL_WINDOW_SIZE, 1 << 31), h2.FLOW_CONTROL_ERROR)
connection_error(
    "H2-D10.length_5", "SETTINGS have six bytes each", h2.frame(h2.SETTINGS, 0, 0, bytes(5)), h2.FRAME_SIZE_ERROR
)
connection_error("H2-D10.on_a_stream", "SETTINGS are of the connection", h2.frame(h2.SETTINGS, 0, 1), h2.PROTOCOL_ERROR)

# --- H2-D04: sizes (§4.2)

connection_error(
    "H2-D04.headers_large",
    "HEADERS of 16,385 bytes",
    h2.frame(h2.HEADERS, BOTH, 1, HEAD + hpack.encode([("x", "v" * 16380)])[: 16385 - len(HEAD)]),
    h2.FRAME_SIZE_ERROR,
)
stream_error(
    "H2-D04.data_large",
    "DATA of 16,385 bytes",
    OPEN + h2.frame(h2.DATA, 0, 1, bytes(16385)),
    h2.FRAME_SIZE_ERROR,
    or_connection=True,
)
connection_error(
    "H2-D04.unknown_large",
    "a frame of an unknown type of 16,385 bytes",
    h2.frame(0xEE, 0, 0, bytes(16385)),
    h2.FRAME_SIZE_ERROR,
)


@case("H2-D04.data_full", "DATA of 16,384 bytes is taken")
async def data_full(target):
    peer = await target.open()
    peer.send(OPEN + h2.frame(h2.DATA, h2.END_STREAM, 1, bytes(16384)))
    await peer.answer(1, body=b"16384")
    peer.close()


# --- H2-D05: stream identifiers (§5.1.1)

for kind, payload, text in ((h2.DATA, b"x", "DATA"), (h2.HEADERS, HEAD, "HEADERS"), (h2.PRIORITY, bytes(5), "PRIORITY"),
                            (h2.RST_STREAM, bytes(4), "RST_STREAM"), (h2.CONTINUATION, HEAD, "CONTINUATION")):  # fmt: skip
    connection_error(
        f"H2-D05.{text.lower()}_on_0",
        f"{text} on stream 0",
        h2.frame(kind, BOTH if kind == h2.HEADERS else 0, 0, payload),
        h2.PROTOCOL_ERROR,
    )
for kind, payload, text in ((h2.PING, bytes(8), "PING"), (h2.GOAWAY, bytes(8), "GOAWAY")):
    connection_error(
        f"H2-D05.{text.lower()}_on_1", f"{text} on a stream", h2.frame(kind, 0, 1, payload), h2.PROTOCOL_ERROR
    )
connection_error("H2-D05.even", "HEADERS on a stream of the server", h2.request(2, "GET", "/"), h2.PROTOCOL_ERROR)
connection_error(
    "H2-D05.lower",
    "HEADERS on a number below the last one",
    h2.request(5, "GET", "/baseline2?a=1&b=1") + h2.request(3, "GET", "/"),
    h2.PROTOCOL_ERROR,
    h2.STREAM_CLOSED,
)
connection_error(
    "H2-D05.push",
    "PUSH_PROMISE of a client",
    OPEN + h2.frame(h2.PUSH_PROMISE, h2.END_HEADERS, 1, struct.pack(">I", 2) + HEAD),
    h2.PROTOCOL_ERROR,
)

# --- H2-D07: CONTINUATION (§6.10)

SPLIT = h2.frame(h2.HEADERS, h2.END_STREAM, 1, HEAD[:10])
for text, data in (("ping", h2.frame(h2.PING, 0, 0, bytes(8))), ("unknown", h2.frame(0xEE)), ("data", h2.frame(h2.DATA, 0, 1, b"x")),
                   ("headers", h2.request(3, "GET", "/")), ("settings", h2.settings()),
                   ("other_stream", h2.frame(h2.CONTINUATION, h2.END_HEADERS, 3, HEAD[10:]))):  # fmt: skip
    connection_error(
        f"H2-D07.{text}_between",
        f"nothing but its CONTINUATION follows an unfinished head: {text}",
        SPLIT + data,
        h2.PROTOCOL_ERROR,
    )
connection_error(
    "H2-D07.alone",
    "CONTINUATION without HEADERS",
    h2.frame(h2.CONTINUATION, h2.END_HEADERS, 1, HEAD),
    h2.PROTOCOL_ERROR,
)
connection_error(
    "H2-D07.after_end",
    "CONTINUATION behind a head that is whole",
    GET + h2.frame(h2.CONTINUATION, h2.END_HEADERS, 1, b""),
    h2.PROTOCOL_ERROR,
)


@case("H2-D07.split", "a head in two and three frames is one head")
async def split(target):
    peer = await target.open()
    for stream, cuts in ((1, [0, 10, len(HEAD)]), (3, [0, 1, 20, len(HEAD)]), (5, [0, 0, len(HEAD)])):
        pieces = [HEAD[i:j] for i, j in zip(cuts, cuts[1:], strict=False)]
        peer.send(h2.frame(h2.HEADERS, h2.END_STREAM, stream, pieces[0]))
        for i, piece in enumerate(pieces[1:], 2):
            peer.send(h2.frame(h2.CONTINUATION, h2.END_HEADERS if i == len(pieces) else 0, stream, piece))
        await peer.answer(stream, body=b"2")
    peer.close()


# --- H2-D08: padding (§6.1)

connection_error(
    "H2-D08.data", "padding as long as DATA", OPEN + h2.frame(h2.DATA, h2.PADDED, 1, b"\x01"), h2.PROTOCOL_ERROR
)
connection_error(
    "H2-D08.data_longer",
    "padding longer than DATA",
    OPEN + h2.frame(h2.DATA, h2.PADDED, 1, b"\xffabc"),
    h2.PROTOCOL_ERROR,
)
connection_error(
    "H2-D08.headers",
    "padding longer than HEADERS",
    h2.frame(h2.HEADERS, BOTH | h2.PADDED, 1, b"\xff" + HEAD),
    h2.PROTOCOL_ERROR,
)
stream_error(
    "H2-D08.data_empty",
    "padded DATA without a pad length",
    OPEN + h2.frame(h2.DATA, h2.PADDED, 1),
    h2.FRAME_SIZE_ERROR,
    h2.PROTOCOL_ERROR,
    or_connection=True,
)


@case("H2-D08.taken", "padding is taken off, in HEADERS and DATA")
async def padding_taken(target):
    peer = await target.open()
    peer.send(h2.frame(h2.HEADERS, h2.END_HEADERS | h2.PADDED, 1, b"\x05" + h2.head("POST", "/echo") + bytes(5)))
    peer.send(h2.frame(h2.DATA, h2.PADDED, 1, b"\x03abc" + bytes(3)))
    peer.send(h2.frame(h2.DATA, h2.PADDED | h2.END_STREAM, 1, b"\x00def"))
    await peer.answer(1, body=b"abcdef")
    peer.close()


# --- H2-D09: WINDOW_UPDATE (§6.9)

stream_error("H2-D09.stream_0", "an increment of 0 on a stream", OPEN + h2.window_update(1, 0), h2.PROTOCOL_ERROR)
connection_error(
    "H2-D09.connection_0", "an increment of 0 on the connection", h2.window_update(0, 0), h2.PROTOCOL_ERROR
)
stream_error(
    "H2-D09.stream_overflow",
    "a stream's window above 2^31-1",
    OPEN + h2.window_update(1, 0x7FFFFFFF),
    h2.FLOW_CONTROL_ERROR,
)
connection_error(
    "H2-D09.connection_overflow",
    "the connection's window above 2^31-1",
    h2.window_update(0, 0x7FFFFFFF),
    h2.FLOW_CONTROL_ERROR,
)
connection_error(
    "H2-D09.settings_overflow",
    "a window that SETTINGS bring above 2^31-1",
    OPEN + h2.window_update(1, 0x7FFF0000) + h2.settings((h2.INITIAL_WINDOW_SIZE, 0x7FFFFFFF)),
    h2.FLOW_CONTROL_ERROR,
)
connection_error(
    "H2-D09.length_3", "WINDOW_UPDATE of three bytes", h2.frame(h2.WINDOW_UPDATE, 0, 0, bytes(3)), h2.FRAME_SIZE_ERROR
)

# --- H2-D11: PING, RST_STREAM, PRIORITY, GOAWAY

connection_error("H2-D11.ping_7", "PING of seven bytes", h2.frame(h2.PING, 0, 0, bytes(7)), h2.FRAME_SIZE_ERROR)
connection_error(
    "H2-D11.reset_3", "RST_STREAM of three bytes", OPEN + h2.frame(h2.RST_STREAM, 0, 1, bytes(3)), h2.FRAME_SIZE_ERROR
)
stream_error(
    "H2-D11.priority_4",
    "PRIORITY of four bytes",
    OPEN + h2.frame(h2.PRIORITY, 0, 1, bytes(4)),
    h2.FRAME_SIZE_ERROR,
    or_connection=True,
)


@case("H2-D11.ping_while_sending", "a PING is answered while a large answer is being sent")
async def ping_while_sending(target):
    peer = await target.open((h2.INITIAL_WINDOW_SIZE, 0x7FFFFFFF))
    body = bytes(range(256)) * 4096
    peer.send(h2.window_update(0, 0x7FFF0000 - 65535))
    peer.send(h2.request(1, "POST", "/upload", body=b"x"))
    await peer.answer(1)
    echo = h2.frame(h2.HEADERS, h2.END_HEADERS, 3, h2.head("POST", "/echo"))
    peer.send(echo)
    for i in range(0, len(body), 16384):
        peer.send(h2.frame(h2.DATA, h2.END_STREAM if i + 16384 == len(body) else 0, 3, body[i : i + 16384]))
        await peer.drain()
        while peer.reader._buffer:  # what has come, so that neither side waits for the other
            await peer.frame()
    peer.send(h2.frame(h2.PING, 0, 0, b"midway!!"))
    await peer.until(lambda got: got.kind == h2.PING and got.payload == b"midway!!")
    await peer.answer(3, body=body)
    peer.close()


# --- H2-D19: what is unknown is ignored (§4.1, §5.5, §6.5.2, §7)

harmless("H2-D19.frame", "frames of unknown types", h2.frame(0xEE, 0xFF, 0, b"x" * 100) + h2.frame(0x42, 0, 7))
harmless("H2-D19.setting", "unknown settings", h2.settings((0x7777, 1), (0xFFFF, 0xFFFFFFFF)))
harmless(
    "H2-D19.flags",
    "flags that a frame does not know",
    h2.frame(h2.PING, 0xFE, 0, bytes(8)) + h2.frame(h2.SETTINGS, 0xFE),
)
harmless("H2-D19.reset_code", "error codes nobody knows", OPEN + h2.reset(1, 0xDEADBEEF))
harmless(
    "H2-D19.priority",
    "PRIORITY on any stream, idle ones too",
    h2.frame(h2.PRIORITY, 0, 99, bytes(5)) + h2.frame(h2.PRIORITY, 0, 2, bytes(5)),
)
harmless("H2-D19.reserved_bit", "the reserved bit of stream identifiers", b"\0\0\x08\x06\0\x80\0\0\0" + bytes(8))
