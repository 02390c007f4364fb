"""pipelined: 16 requests a write, each with a response of its own, in order, none lost and none too many."""

import asyncio

from .registry import check
from .wire import request, require

PIPELINE = request("GET", "/pipeline")
DEPTH = 16


@check("pipelined.single", "GET /pipeline answers ok as text/plain", "pipeline_body")
async def single(entry, random):
    (await entry.exchange(PIPELINE)).expect(b"ok").expect_type("text/plain")


@check("pipelined.sixteen", "16 requests in one write have exactly 16 answers, on 16 connections, 20 times", "answers_first_only")
async def sixteen(entry, random):
    async def client(_):
        wire = await entry.connect()
        for _ in range(20):
            await wire.write(PIPELINE * DEPTH)
            for _ in range(DEPTH):
                (await wire.answer()).expect(b"ok")
        await wire.expect_silence(0.05)
        wire.close()

    await asyncio.gather(*map(client, range(16)))
    return "5,120 answers"


@check("pipelined.none_extra", "no answer comes without a request", "answers_twice")
async def none_extra(entry, random):
    wire = await entry.connect()
    await wire.write(PIPELINE * DEPTH)
    for _ in range(DEPTH):
        (await wire.answer()).expect(b"ok")
    await wire.expect_silence(0.2)
    wire.close()


@check("pipelined.own_answers", "each of 16 different requests has its own answer, in order", "pipeline_reversed")
async def own_answers(entry, random):
    wire = await entry.connect()
    for _ in range(20):
        data, expected = b"", []
        for _ in range(DEPTH):
            a, b, c = (random.randint(100, 999) for _ in range(3))
            target = f"/baseline11?a={a}&b={b}"
            kind = random.randrange(4)
            if kind == 0:
                data += request("GET", target)
            elif kind == 1:
                data += request("POST", target, body=str(c).encode())
            elif kind == 2:
                data += request("POST", target, chunks=[str(c)[:1].encode(), str(c)[1:].encode()])
            else:
                data += PIPELINE
            expected.append(str(a + b + (c if kind else 0)).encode() if kind < 3 else b"ok")
        await wire.write(data)
        for body in expected:
            (await wire.answer()).expect(body)
    wire.close()


@check("pipelined.cut_anywhere", "a batch of 16 that arrives in pieces of any size", "needs_whole_head")
async def cut_anywhere(entry, random):
    async def client(_):
        wire = await entry.connect()
        data = PIPELINE * DEPTH
        cuts = sorted(random.sample(range(1, len(data)), 5))
        await wire.write_pieces([data[i:j] for i, j in zip([0, *cuts], [*cuts, len(data)], strict=True)], 0.005)
        for _ in range(DEPTH):
            (await wire.answer()).expect(b"ok")
        await wire.expect_silence(0.05)
        wire.close()

    await asyncio.gather(*map(client, range(32)))


@check("pipelined.behind_a_wait", "an answer that waits holds back those behind it", "pipeline_overtakes")
async def behind_a_wait(entry, random):
    wire = await entry.connect()
    await wire.write(request("GET", "/delay/100") + PIPELINE + request("GET", "/delay/20") + PIPELINE)
    first = (await wire.answer()).expect(b"100")
    require(first.seconds >= 0.09, f"/delay/100 took {first.seconds:.3f} s")
    for body in (b"ok", b"20", b"ok"):
        (await wire.answer()).expect(body)
    wire.close()


@check("pipelined.deep", "1,000 requests in one write are all answered", "pipeline_limit")
async def deep(entry, random):
    wire = await entry.connect()
    await wire.write(PIPELINE * 1000)
    for _ in range(1000):
        (await wire.answer()).expect(b"ok")
    wire.close()


@check("pipelined.close_at_end", "a batch whose last request says close is answered, then closed", "close_ignored")
async def close_at_end(entry, random):
    wire = await entry.connect()
    await wire.write(PIPELINE * (DEPTH - 1) + request("GET", "/pipeline", "Connection: close"))
    for _ in range(DEPTH):
        (await wire.answer()).expect(b"ok")
    await wire.expect_end()
    wire.close()
