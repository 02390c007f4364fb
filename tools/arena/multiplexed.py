"""baseline-h2c, baseline-h2: sums over HTTP/2, without TLS by prior knowledge and with TLS by ALPN."""

import asyncio

from . import h2
from .registry import check
from .wire import Failure, request, require

TARGET = "/baseline2?a=13&b=42"


def for_both(name, title, fault):
    """One check for each of the two listeners."""

    def register(run):
        for listener in ("h2c", "h2"):
            check(f"{listener}.{name}", title, fault, listener)(run)
        return run

    return register


@for_both("get", "GET /baseline2?a=13&b=42 answers 55 over HTTP/2", "h2_sum")
async def get(entry, random):
    async with await h2.connect(entry) as session:
        (await session.exchange("GET", TARGET)).expect(b"55")


@for_both("type", "the answer is text/plain", "h2_type")
async def media_type(entry, random):
    async with await h2.connect(entry) as session:
        (await session.exchange("GET", TARGET)).expect(b"55").expect_type("text/plain")


@for_both("random", "sums of random numbers, one after the other on one connection", "h2_constant")
async def sums(entry, random):
    async with await h2.connect(entry) as session:
        for _ in range(50):
            a, b = random.randint(100, 999), random.randint(100, 999)
            (await session.exchange("GET", f"/baseline2?a={a}&b={b}")).expect(str(a + b).encode())


@for_both("hundred", "100 streams at once have each its own answer, ten times", "h2_mixed_up")
async def hundred(entry, random):
    async with await h2.connect(entry) as session:
        for _ in range(10):
            wanted = {}
            for _ in range(100):
                a, b = random.randint(100, 999), random.randint(100, 999)
                wanted[session.send("GET", f"/baseline2?a={a}&b={b}")] = str(a + b).encode()
            for stream, body in wanted.items():
                (await session.answer(stream)).expect(body)


@for_both("connections", "32 connections of 100 streams each are all answered", "h2_one_connection")
async def connections(entry, random):
    async def client(_):
        async with await h2.connect(entry) as session:
            for stream in [session.send("GET", TARGET) for _ in range(100)]:
                (await session.answer(stream)).expect(b"55")

    await asyncio.gather(*map(client, range(32)))
    return "3,200 answers"


@check("h2c.no_h1", "HTTP/1.1 is not answered with 200", "h2c_speaks_h1", "h2c")
async def no_http1(entry, random):
    wire = await entry.connect()
    try:
        await wire.write(request("GET", TARGET))
        answer = await wire.answer()
    except Failure:
        return  # closed, or an answer in HTTP/2
    finally:
        wire.close()
    require(answer.status != 200, "a request in HTTP/1.1 is answered")
