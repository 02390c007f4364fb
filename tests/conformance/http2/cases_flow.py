"""Flow control, concurrency and abuse (RFC 9113 §5.1.2, §6.9, §10.5)."""

import time

from arena import h2, hpack

import peer as shared
from peer import Failure, require
from registry import case

BOTH = h2.END_HEADERS | h2.END_STREAM

# --- H2-D14: windows (§6.9)


def payload(size):
    return bytes(i * 7 % 251 for i in range(size))


@case("H2-D14.window_1", "a window of 1, opened byte by byte, lets one byte through at a time")
async def window_1(target):
    peer = await target.open((h2.INITIAL_WINDOW_SIZE, 1))
    body = payload(40)
    peer.send(h2.request(1, "POST", "/echo", body=body))
    for size in range(1, len(body) + 1):
        while len(peer.bodies.get(1, b"")) < size:
            await peer.until(lambda got: got.kind == h2.DATA)
        require(peer.bodies[1] == body[:size], "more, or other bytes, than the window has let through")
        peer.send(h2.window_update(1, 1))
    await peer.answer(1, body=body)
    peer.close()


@case("H2-D14.negative", "a window that SETTINGS make negative lets nothing through until it is open again")
async def negative(target):
    peer = await target.open((h2.INITIAL_WINDOW_SIZE, 1000))
    body = payload(5000)
    peer.send(h2.request(1, "POST", "/echo", body=body))
    while len(peer.bodies.get(1, b"")) < 1000:
        await peer.until(lambda got: got.kind == h2.DATA)
    peer.send(h2.settings((h2.INITIAL_WINDOW_SIZE, 100)))  # 900 below nothing
    peer.send(h2.window_update(1, 900) + h2.frame(h2.PING, 0, 0, b"negative"))
    await peer.until(lambda got: got.kind == h2.PING and got.flags & h2.ACK)
    require(len(peer.bodies[1]) == 1000, f"{len(peer.bodies[1])} bytes through a window of 0")
    peer.send(h2.window_update(1, 1) + h2.frame(h2.PING, 0, 0, b"one more"))
    while len(peer.bodies[1]) < 1001:
        await peer.until(lambda got: got.kind == h2.DATA)
    require(len(peer.bodies[1]) == 1001, f"{len(peer.bodies[1])} bytes instead of 1,001")
    peer.send(h2.settings((h2.INITIAL_WINDOW_SIZE, 6000)))
    await peer.answer(1, body=body)
    peer.close()


@case("H2-D14.connection", "the connection's window holds for all streams together")
async def connection_window(target):
    peer = await target.open((h2.INITIAL_WINDOW_SIZE, 1 << 20))
    body = payload(40_000)
    for stream in (1, 3):
        peer.send(h2.request(stream, "POST", "/echo", body=body))
    while sum(map(len, peer.bodies.values())) < 65_535:
        await peer.until(lambda got: got.kind == h2.DATA)
    require(sum(map(len, peer.bodies.values())) == 65_535, "more than the connection's window has let through")
    peer.send(h2.window_update(0, 1 << 20))
    for stream in (1, 3):
        await peer.answer(stream, body=body)
    peer.close()


@case("H2-D14.overrun", "DATA beyond the window that the server has opened is FLOW_CONTROL_ERROR")
async def overrun(target):
    peer = await target.open()
    peer.send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.head("GET", "/delay/2000")))  # nobody reads its body
    try:
        for _ in range(2048):
            peer.send(h2.frame(h2.DATA, 0, 1, bytes(16384)))
        await peer.drain()
        await peer.stream_error(1, h2.FLOW_CONTROL_ERROR, or_connection=True)
    finally:
        peer.close()


@case("H2-D14.upload", "an upload of 4 MiB goes through windows that are opened as it is read")
async def upload(target):
    peer = await target.open()
    size, sent = 4 << 20, 0
    windows = {0: 65_535, 1: peer.settings.get(h2.INITIAL_WINDOW_SIZE, 65_535)}
    peer.send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.head("POST", "/upload")))
    while sent < size:
        room = min(*windows.values(), 16_384, size - sent)
        if room > 0:
            peer.send(h2.frame(h2.DATA, h2.END_STREAM if sent + room == size else 0, 1, bytes(room)))
            sent += room
            windows = {stream: window - room for stream, window in windows.items()}
            continue
        got = await peer.until(lambda got: got.kind == h2.WINDOW_UPDATE)
        if got.stream in windows:
            windows[got.stream] += int.from_bytes(got.payload, "big")
    await peer.answer(1, body=str(size).encode())
    peer.close()


@case("H2-D14.one_upload_waits", "an upload that nobody reads holds no other stream up")
async def one_waits(target):
    peer = await target.open()
    peer.send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.head("GET", "/delay/6000")))
    for _ in range(3):
        peer.send(h2.frame(h2.DATA, 0, 1, bytes(16_384)))
    began = time.monotonic()
    await peer.is_alive(3)
    peer.send(h2.request(5, "POST", "/upload", body=bytes(10_000)))
    await peer.answer(5, body=b"10000")
    require(time.monotonic() - began < 5, "it waited for the other stream")
    peer.close()


# --- H2-D15: concurrency (§5.1.2)


@case("H2-D15.one_too_many", "a stream above MAX_CONCURRENT_STREAMS is refused, and the others are answered")
async def one_too_many(target):
    peer = await target.open()
    most = peer.settings.get(h2.MAX_CONCURRENT_STREAMS)
    require(most is not None, "the server announces no MAX_CONCURRENT_STREAMS")
    await peer.until(lambda got: got.kind == h2.SETTINGS and got.flags & h2.ACK)
    streams = range(1, 2 * most + 1, 2)
    for stream in streams:
        peer.send(h2.request(stream, "GET", "/delay/500"))
    peer.send(h2.request(2 * most + 1, "GET", "/delay/0"))
    await peer.stream_error(2 * most + 1, h2.REFUSED_STREAM, h2.PROTOCOL_ERROR)
    for stream in streams:
        await peer.answer(stream, body=b"500")
    peer.send(h2.request(2 * most + 3, "GET", "/delay/0"))
    await peer.answer(2 * most + 3, body=b"0")
    peer.close()


# --- H2-D20: abuse (§10.5)

MEBIBYTES_MAX = 64


def resident_mebibytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


async def flood(target, chunks):
    """Sends until the server has had enough, while somebody else is served, in bounded memory."""
    bystander = await target.open()
    peer = await target.open()
    before = resident_mebibytes(target.pid)
    deadline = time.monotonic() + shared.FLOOD_SECONDS
    stream, slowest = 10_003, 0.0
    began = time.monotonic()
    await bystander.is_alive(10_001)
    usual = time.monotonic() - began
    try:
        for number, chunk in enumerate(chunks):
            peer.send(chunk)
            if number % 20 == 0:
                await peer.drain()
                began = time.monotonic()
                bystander.send(h2.request(stream, "GET", "/baseline2?a=1&b=1"))
                await bystander.answer(stream, body=b"2")
                stream, slowest = stream + 2, max(slowest, time.monotonic() - began)
            if time.monotonic() > deadline:
                break
        grown = resident_mebibytes(target.pid) - before
        require(
            slowest < max(1, 20 * usual), f"the bystander waited for {slowest:.2f} s, without the flood {usual:.3f} s"
        )
        require(grown < MEBIBYTES_MAX, f"the server has grown by {grown:.0f} MiB")
        await peer.connection_error(h2.ENHANCE_YOUR_CALM, None)
    finally:
        peer.close()
        bystander.close()


def flood_case(name, title, chunks):
    @case(f"H2-D20.{name}", title, needs_pid=True)
    async def run(target):
        await flood(target, chunks())


def rapid_resets():
    for i in range(0, 10_000, 10):
        yield b"".join(h2.request(2 * n + 1, "GET", "/delay/1000") + h2.reset(2 * n + 1) for n in range(i, i + 10))


def provoked_resets():
    """The server is made to reset: windows opened by 0 (MadeYouReset)."""
    for i in range(0, 10_000, 10):
        yield b"".join(h2.request(2 * n + 1, "GET", "/delay/1000") + h2.window_update(2 * n + 1, 0) for n in range(i, i + 10))


def continuations():
    yield h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.head("GET", "/"))
    for _ in range(20_000):
        yield h2.frame(h2.CONTINUATION, 0, 1, hpack.encode([("x", "v" * 200)]))


def empty_continuations():
    yield h2.frame(h2.HEADERS, h2.END_STREAM, 1, h2.head("GET", "/"))
    for _ in range(2_000):
        yield h2.frame(h2.CONTINUATION, 0, 1) * 10


def empty_data():
    yield h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.head("POST", "/upload"))
    for _ in range(2_000):
        yield h2.frame(h2.DATA, 0, 1) * 10


flood_case("rapid_reset", "10,000 requests that are reset at once", rapid_resets)
flood_case("made_you_reset", "10,000 requests that the server is made to reset", provoked_resets)
flood_case("continuation", "a head without end", continuations)
flood_case("continuation_empty", "a head without end, of empty frames", empty_continuations)
flood_case(
    "settings",
    "20,000 SETTINGS, acknowledgements unread",
    lambda: (h2.settings((0x7777, 1)) * 10 for _ in range(2_000)),
)
flood_case(
    "ping", "20,000 PINGs, answers unread", lambda: (h2.frame(h2.PING, 0, 0, bytes(8)) * 10 for _ in range(2_000))
)
flood_case("empty_data", "20,000 empty DATA", empty_data)
flood_case("priority", "20,000 PRIORITY", lambda: (h2.frame(h2.PRIORITY, 0, 1, bytes(5)) * 10 for _ in range(2_000)))
flood_case("window_update", "20,000 window updates", lambda: (h2.window_update(0, 1) * 10 for _ in range(2_000)))


@case(
    "H2-D20.bomb",
    "a head that unpacks to a hundred times its size is refused, and the connection lives",
    needs_pid=True,
)
async def bomb(target):
    peer = await target.open()
    before = resident_mebibytes(target.pid)
    head = hpack.encode([(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "localhost")])
    peer.send(h2.frame(h2.HEADERS, BOTH, 1, head + hpack.encode([("bomb", "b" * 4000)], 0x40)))
    await peer.stream_error(1, or_status=404)
    for stream in range(3, 43, 2):
        peer.send(h2.frame(h2.HEADERS, BOTH, stream, head + b"\xbe" * 10_000))
        await peer.stream_error(stream, or_status=431)
    require(resident_mebibytes(target.pid) - before < 8, "the server has unpacked it")
    await peer.is_alive(101)
    peer.close()


@case("H2-D20.resets_of_old", "a client that resets streams which are over is not sent away")
async def late_resets(target):
    peer = await target.open()
    for stream in range(1, 3_001, 2):
        peer.send(h2.request(stream, "GET", "/baseline2?a=1&b=1"))
        await peer.answer(stream, body=b"2")
        peer.send(h2.reset(stream))
    await peer.is_alive(3_001)
    peer.close()


@case("H2-D20.many_fields", "more fields than the limit are 431")
async def many_fields(target):
    peer = await target.open()
    peer.send(h2.request(1, "GET", "/baseline2?a=1&b=1", *[(f"x-{i}", "v") for i in range(200)]))
    await peer.stream_error(1, h2.ENHANCE_YOUR_CALM, h2.PROTOCOL_ERROR, or_status=431)
    await peer.is_alive(3)
    peer.close()


# --- H2-D18: GOAWAY of the client (§6.8)


@case("H2-D18.client_leaves", "after the client's GOAWAY its streams are answered, and the connection ends")
async def client_leaves(target):
    peer = await target.open()
    peer.send(h2.request(1, "GET", "/delay/300") + h2.frame(h2.GOAWAY, 0, 0, bytes(8)))
    await peer.answer(1, body=b"300")
    try:
        while await peer.frame() is not None:
            pass
    except Failure:
        raise Failure("the connection stayed open") from None
    peer.close()
