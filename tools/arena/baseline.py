"""baseline, limited-conn: sums over GET and POST, and requests that arrive in pieces."""

import asyncio

from .registry import check
from .wire import Failure, request, require

GET = request("GET", "/baseline11?a=13&b=42")
POST_LENGTH = request("POST", "/baseline11?a=13&b=42", body=b"20")
POST_CHUNKED = request("POST", "/baseline11?a=13&b=42", chunks=[b"20"])
TEMPLATES = ((GET, b"55"), (POST_LENGTH, b"75"), (POST_CHUNKED, b"75"))


def number(random):
    return random.randint(100, 999)


def text(value):
    return str(value).encode()


@check("baseline.get", "GET /baseline11?a=13&b=42 answers 55", "sum")
async def get(entry, random):
    (await entry.exchange(GET)).expect(b"55")


@check("baseline.post_length", "POST with Content-Length: 2 and body 20 answers 75", "post_ignores_body")
async def post_length(entry, random):
    (await entry.exchange(POST_LENGTH)).expect(b"75")


@check("baseline.post_chunked", "POST with body 20 in one chunk answers 75", "chunked_ignored")
async def post_chunked(entry, random):
    (await entry.exchange(POST_CHUNKED)).expect(b"75")


@check("baseline.get_type", "the answer to GET is text/plain", "type_get")
async def get_type(entry, random):
    (await entry.exchange(GET)).expect(b"55").expect_type("text/plain")


@check("baseline.post_type", "the answer to POST is text/plain", "type_post")
async def post_type(entry, random):
    (await entry.exchange(POST_LENGTH)).expect(b"75").expect_type("text/plain")


@check("baseline.random", "random a and b in 100-999 are added, GET and both kinds of POST", "sum_constant")
async def random_values(entry, random):
    for _ in range(20):
        a, b, c = number(random), number(random), number(random)
        target = f"/baseline11?a={a}&b={b}"
        (await entry.exchange(request("GET", target))).expect(text(a + b))
        (await entry.exchange(request("POST", target, body=text(c)))).expect(text(a + b + c))
        (await entry.exchange(request("POST", target, chunks=[text(c)]))).expect(text(a + b + c))


@check("baseline.cache", "two POSTs of one URL with different bodies have different answers", "cached")
async def cache(entry, random):
    a, b = number(random), number(random)
    first, second = random.sample(range(100, 1000), 2)
    for value in (first, second):
        answer = await entry.exchange(request("POST", f"/baseline11?a={a}&b={b}", body=text(value)))
        answer.expect(text(a + b + value))


@check("baseline.lower_case", "field names may be in lower case", "case_sensitive")
async def lower_case(entry, random):
    for head, body, expected in (
        ("GET /baseline11?a=13&b=42 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n", "", b"55"),
        ("POST /baseline11?a=13&b=42 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\nconnection: close\r\n\r\n",
         "20", b"75"),
    ):  # fmt: skip
        await one_closing(entry, [(head + body).encode()], 0, expected)


@check("baseline.keep_alive", "a connection stays, through all three kinds of request", "closes_after_one")
async def keep_alive(entry, random):
    wire = await entry.connect()
    for _ in range(10):
        for data, expected in TEMPLATES:
            await wire.write(data)
            (await wire.answer()).expect(expected)
    await wire.expect_silence(0.05)
    wire.close()


@check("baseline.close", "Connection: close is honoured", "close_ignored")
async def close(entry, random):
    await one_closing(entry, [request("GET", "/baseline11?a=13&b=42", "Connection: close")], 0, b"55")


# --- fragmentation


async def one_closing(entry, pieces, pause, expected):
    """Sends a request that ends its connection in pieces; the answer is exact and the server closes."""
    wire = await entry.connect()
    try:
        await wire.write_pieces(pieces, pause)
        (await wire.answer()).expect(expected)
        await wire.expect_end()
    finally:
        wire.close()


def lines_of(data):
    return [line + b"\r\n" for line in data[:-4].split(b"\r\n")] + [b"\r\n"]


@check("baseline.fragment_path", "a request cut in the middle of its path, 30 ms apart", "needs_whole_head")
async def fragment_path(entry, random):
    data = request("GET", "/baseline11?a=13&b=42", "Connection: close")
    await one_closing(entry, [data[:9], data[9:]], 0.03, b"55")


@check("baseline.fragment_lines", "a request line by line, 30 ms apart", "needs_whole_head")
async def fragment_lines(entry, random):
    data = request("GET", "/baseline11?a=13&b=42", "User-Agent: check", "Accept: */*", "Connection: close")
    await one_closing(entry, lines_of(data), 0.03, b"55")


@check("baseline.fragment_body", "the body 30 ms after its head", "needs_whole_message")
async def fragment_body(entry, random):
    data = request("POST", "/baseline11?a=13&b=42", "Connection: close", body=b"20")
    await one_closing(entry, [data[:-2], data[-2:]], 0.03, b"75")


@check("baseline.fragment_bytes", "the body byte by byte, 30 ms apart", "needs_whole_message")
async def fragment_bytes(entry, random):
    data = request("POST", "/baseline11?a=13&b=42", "Connection: close", body=b"1234")
    await one_closing(entry, [data[:-4], *(data[i : i + 1] for i in range(len(data) - 4, len(data)))], 0.03, b"1289")


# --- the exhaustive sweep: two writes, at every byte

CLOSE = "Connection: close"


def shape_minimal(random):
    return request("GET", "/baseline11?a=13&b=42", CLOSE), 55


def shape_fields(random):
    lines = ("User-Agent: Mozilla/5.0 (X11; Linux x86_64)", "Accept: */*", "Accept-Encoding: gzip, br", CLOSE)
    return request("GET", "/baseline11?a=13&b=42", *lines), 55


def shape_lower(random):
    return b"GET /baseline11?a=13&b=42 HTTP/1.1\r\nhost: localhost:8080\r\nconnection: close\r\n\r\n", 55


def shape_random(random):
    a, b = number(random), number(random)
    return request("GET", f"/baseline11?a={a}&b={b}", CLOSE), a + b


def shape_post(random):
    return request("POST", "/baseline11?a=13&b=42", CLOSE, body=b"20"), 75


def shape_post_lower(random):
    head = b"POST /baseline11?a=13&b=42 HTTP/1.1\r\nhost: localhost:8080\r\ncontent-length: 2\r\nconnection: close\r\n"
    return head + b"\r\n20", 75


def shape_post_random(random):
    a, b, c = number(random), number(random), number(random)
    return request("POST", f"/baseline11?a={a}&b={b}", CLOSE, body=text(c)), a + b + c


def shape_chunked(random):
    return request("POST", "/baseline11?a=13&b=42", CLOSE, chunks=[b"20"]), 75


def shape_two_chunks(random):
    return request("POST", "/baseline11?a=13&b=42", CLOSE, chunks=[b"2", b"0"]), 75


SHAPES = (
    ("get", "GET with nothing but Host", shape_minimal, "needs_whole_head"),
    ("get_fields", "GET with User-Agent, Accept and Accept-Encoding", shape_fields, "needs_whole_head"),
    ("get_lower", "GET with lower-case names", shape_lower, "needs_whole_head"),
    ("get_random", "GET with random values", shape_random, "needs_whole_head"),
    ("post", "POST with a length", shape_post, "needs_whole_message"),
    ("post_lower", "POST with a length, lower-case names", shape_post_lower, "needs_whole_message"),
    ("post_random", "POST with a length, random values", shape_post_random, "needs_whole_message"),
    ("post_chunked", "POST in one chunk", shape_chunked, "needs_whole_chunk"),
    ("post_two_chunks", "POST in two chunks", shape_two_chunks, "needs_whole_chunk"),
)


async def sweep(entry, shape, random):
    data, total = shape(random)
    gate = asyncio.Semaphore(entry.batch)

    async def split_at(offset):
        async with gate:
            try:
                await one_closing(entry, [data[:offset], data[offset:]], entry.split_pause, text(total))
            except Failure as failure:
                return f"at byte {offset}, between {data[max(0, offset - 8) : offset]} and {data[offset : offset + 8]}: {failure}"
        return None

    faults = [fault for fault in await asyncio.gather(*map(split_at, range(1, len(data)))) if fault]
    require(not faults, f"{len(faults)} of {len(data) - 1} splits fail; the first {faults[0] if faults else ''}")
    return f"{len(data) - 1} splits"


def register_sweep(name, title, shape, fault):
    async def run(entry, random):
        return await sweep(entry, shape, random)

    check(f"sweep.{name}", f"{title}, cut in two at every byte", fault)(run)


for each in SHAPES:
    register_sweep(*each)


# --- limited-conn


@check("limited.ten_then_reconnect", "100 clients make 10 requests each, then connect anew, three times", "closes_after_nine")
async def ten_then_reconnect(entry, random):
    async def client(kind):
        data, expected = TEMPLATES[kind % 3]
        for _ in range(3):
            wire = await entry.connect()
            for _ in range(10):
                await wire.write(data)
                (await wire.answer()).expect(expected)
            wire.close()

    await asyncio.gather(*map(client, range(100)))
    return "3,000 requests, 300 connections"


@check("limited.abrupt_end", "clients that leave by a reset do not disturb others", "shares_connections")
async def abrupt_end(entry, random):
    wire = await entry.connect()
    for _ in range(20):
        other = await entry.connect()
        await other.write(GET[: random.randint(1, len(GET))])
        other.abort()
        await wire.write(GET)
        (await wire.answer()).expect(b"55")
    wire.close()


# --- what is not in the contract's letter, but sinks an entry: it has to stay alive


@check("noise.survives", "malformed requests get no 2xx and the server goes on", "dies_of_noise")
async def survives(entry, random):
    noise = (
        b"GET /baseline11?a=1&b=1 HTTP/1.1\rHost: x\r\n\r\n",
        b"GET /base\0line11 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n:\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 65536 + b"\r\n\r\n",
        b"POST /baseline11?a=1&b=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n200",
        bytes(random.randrange(256) for _ in range(256)) + b"\r\n\r\n",
    )
    quick = entry.with_timeout(2.0)
    for data in noise:
        wire = await quick.connect()
        try:
            await wire.write(data)
            answer = await wire.answer()
        except Failure:
            answer = None  # closed without an answer, or waiting for more of it: both are fair
        wire.close()
        require(answer is None or answer.status >= 300, f"status {answer and answer.status} for {data[:40]}")
        (await entry.exchange(GET)).expect(b"55")
    (await entry.exchange(request("GET", "/no/such/path"))).expect_refused()
