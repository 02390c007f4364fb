"""echo and upload: bodies of every size, with a length and chunked, really read and returned to the byte."""

import asyncio

from .registry import check
from .wire import request, require

ECHO_SIZES = (1, 1000, 10_240, 102_400)
UPLOAD_SIZES = (500_000, 2_000_000, 10_000_000, 20_000_000)


def in_chunks(body, size):
    return [body[i : i + size] for i in range(0, len(body), size)]


@check("echo.length", "POST /echo returns 1, 1,000, 10,240 and 102,400 random bytes", "echo_flips_a_bit")
async def echo_length(entry, random):
    for size in ECHO_SIZES:
        body = random.randbytes(size)
        (await entry.exchange(request("POST", "/echo", body=body))).expect(body)


@check("echo.chunked", "the same for 10,240 and 102,400 bytes sent in chunks", "chunked_ignored")
async def echo_chunked(entry, random):
    for size in (10_240, 102_400):
        body = random.randbytes(size)
        (await entry.exchange(request("POST", "/echo", chunks=in_chunks(body, 4096)))).expect(body)


@check("echo.type", "the answer is application/octet-stream with a Content-Length", "type_echo")
async def echo_type(entry, random):
    body = random.randbytes(10_240)
    answer = (await entry.exchange(request("POST", "/echo", body=body))).expect(body)
    answer.expect_type("application/octet-stream")
    require(answer.fields.get("content-length") == "10240", f"Content-Length {answer.fields.get('content-length')!r}")


@check("echo.empty", "an empty POST is a 200 with nothing", "echo_empty_refused")
async def echo_empty(entry, random):
    (await entry.exchange(request("POST", "/echo", body=b""))).expect(b"")


@check("echo.continue", "Expect: 100-continue is answered before the body is sent", "no_continue")
async def echo_continue(entry, random):
    body = random.randbytes(10_240)
    data = request("POST", "/echo", "Expect: 100-continue", body=body)
    wire = await entry.connect()
    await wire.write(data[: -len(body)])
    informed = await wire.answer(skip_informational=False)
    require(informed.status == 100, f"status {informed.status} before the body")
    await wire.write(body)
    (await wire.answer()).expect(body)
    wire.close()


@check("echo.concurrent", "64 connections echo 10,240 bytes ten times each, none mixed up", "echo_mixed_up")
async def echo_concurrent(entry, random):
    async def client(body):
        wire = await entry.connect()
        for _ in range(10):
            await wire.write(request("POST", "/echo", body=body))
            (await wire.answer()).expect(body)
        wire.close()

    await asyncio.gather(*(client(random.randbytes(10_240)) for _ in range(64)))


@check("upload.small", "POST /upload answers how many bytes it read: 17, and 48 random ones, as text/plain", "upload_constant")
async def upload_small(entry, random):
    (await entry.exchange(request("POST", "/upload", body=b"Hello, HttpArena!"))).expect(b"17").expect_type("text/plain")
    (await entry.exchange(request("POST", "/upload", body=random.randbytes(48)))).expect(b"48")


def register_upload(size):
    async def run(entry, random):
        answer = await entry.exchange(request("POST", "/upload", body=random.randbytes(size)))
        answer.expect(str(size).encode())
        return f"{answer.seconds:.2f} s"

    check(f"upload.{size}", f"an upload of {size:,} bytes", "upload_limit")(run)


for each in UPLOAD_SIZES:
    register_upload(each)


@check("upload.chunked", "2,000,000 bytes in chunks, which no Content-Length announces", "chunked_ignored")
async def upload_chunked(entry, random):
    body = random.randbytes(2_000_000)
    (await entry.exchange(request("POST", "/upload", chunks=in_chunks(body, 65_536)))).expect(b"2000000")


@check("upload.really_read", "no answer before the last byte has come", "upload_believes_length")
async def really_read(entry, random):
    body = random.randbytes(100_000)
    data = request("POST", "/upload", body=body)
    wire = await entry.connect()
    await wire.write(data[:-1])
    await wire.expect_silence(0.3)
    await wire.write(data[-1:])
    (await wire.answer()).expect(b"100000")
    wire.close()
