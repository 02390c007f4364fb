"""async and latency: answers that wait as long as they were asked to, many at once, and answers on time."""

import asyncio
import time

from .baseline import GET
from .registry import check
from .wire import request, require


async def delayed(entry, ms):
    answer = (await entry.exchange(request("GET", f"/delay/{ms}"))).expect(str(ms).encode())
    require(answer.seconds >= 0.9 * ms / 1000, f"/delay/{ms} took {answer.seconds:.3f} s")
    return answer


@check("async.random", "GET /delay/{10-90} waits at least 0.9 of that and echoes the number", "delay_short")
async def random_delays(entry, random):
    for _ in range(5):
        await delayed(entry, random.randint(10, 90))


@check("async.type", "the answer is text/plain", "type_delay")
async def content_type(entry, random):
    (await delayed(entry, random.randint(10, 90))).expect_type("text/plain")


@check("async.zero", "GET /delay/0 answers 0 at once", "delay_zero_waits")
async def zero(entry, random):
    answer = await delayed(entry, 0)
    require(answer.seconds < 0.5, f"it took {answer.seconds:.3f} s")


@check("async.differ", "/delay/10 and /delay/500 differ by 0.3 s, neither early, the short one within 2 s", "delay_constant")
async def differ(entry, random):
    short, long = await delayed(entry, 10), await delayed(entry, 500)
    require(long.seconds - short.seconds >= 0.3, f"{short.seconds:.3f} s and {long.seconds:.3f} s")
    require(long.seconds >= 0.45, f"/delay/500 took {long.seconds:.3f} s")
    require(short.seconds <= 2, f"/delay/10 took {short.seconds:.3f} s")
    return f"{short.seconds * 1000:.1f} ms and {long.seconds * 1000:.1f} ms"


@check("async.overlapping", "32 different delays at the same time, each at least 0.9 of its own, echoing its own", "delays_mixed")
async def overlapping(entry, random):
    delays = random.sample(range(100, 501), 32)
    answers = await asyncio.gather(*(delayed(entry, ms) for ms in delays))
    late = [answer.seconds * 1000 - ms for answer, ms in zip(answers, delays, strict=True)]
    return f"late by {sorted(late)[len(late) // 2]:.1f} ms in the median, at most {max(late):.1f} ms"


@check("async.held", "256 connections ask /delay/10 ten times each, all are answered", "delays_run_dry")
async def held(entry, random):
    async def client(_):
        wire = await entry.connect()
        for _ in range(10):
            await wire.write(request("GET", "/delay/10"))
            answer = (await wire.answer()).expect(b"10")
            require(answer.seconds >= 0.009, f"/delay/10 took {answer.seconds:.4f} s")
        wire.close()

    await asyncio.gather(*map(client, range(256)))
    return "2,560 answers"


@check("async.leaving", "clients that leave while they wait do not disturb others", "delays_run_dry")
async def leaving(entry, random):
    others = [await entry.connect() for _ in range(20)]
    for other in others:
        await other.write(request("GET", "/delay/200"))
    for other in others:
        other.abort()
    for _ in range(5):
        await delayed(entry, 50)


@check("latency.sum", "GET /baseline11?a=1&b=2 answers 3", "sum")
async def latency_sum(entry, random):
    (await entry.exchange(request("GET", "/baseline11?a=1&b=2"))).expect(b"3")


@check("latency.paced", "1,000 requests at 500 a second over 64 held connections, on time", "sluggish")
async def paced(entry, random):
    wires = [await entry.connect() for _ in range(64)]
    free = asyncio.Queue()
    for wire in wires:
        free.put_nowait(wire)
    began, seconds = time.monotonic(), []

    async def one(index):
        due = began + index / 500
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        wire = await free.get()
        await wire.write(GET)
        (await wire.answer()).expect(b"55")
        seconds.append(time.monotonic() - due)
        free.put_nowait(wire)

    await asyncio.gather(*map(one, range(1000)))
    for wire in wires:
        wire.close()
    seconds.sort()
    took = time.monotonic() - began
    require(took < 2.5, f"1,000 requests due within 2 s took {took:.2f} s")
    require(seconds[500] < 0.05, f"median {seconds[500] * 1000:.1f} ms")
    return f"median {seconds[500] * 1000:.2f} ms, p99 {seconds[990] * 1000:.2f} ms (this client's own time within)"
