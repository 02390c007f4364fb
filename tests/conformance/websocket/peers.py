#!/usr/bin/env python3
"""peers.py ARENA CHAT: foreign clients against our servers: python3-websockets, where it is installed.

The benchmark entry echoes, the chat example publishes. Exit status 77 where there is no foreign client.
"""

import asyncio
import pathlib
import random
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from server_process import ServerProcess  # noqa: E402

try:
    import websockets
except ImportError:
    print("python3-websockets is not installed")
    sys.exit(77)

ARENA_AT = re.compile(rb"^listening http://127\.0\.0\.1:(\d+)$", re.MULTILINE)
CHAT_AT = re.compile(rb"listening on http://127\.0\.0\.1:(\d+)")
SECONDS_MAX = 60


def require(condition, text):
    if not condition:
        raise SystemExit(text)


async def echo(port):
    url = f"ws://127.0.0.1:{port}/ws"
    # The default offers permessage-deflate, which the entry does not take.
    for compression in (None, "deflate"):
        async with websockets.connect(url, compression=compression, max_size=None) as socket:
            for payload in ("", "hello", "schön €😀" * 50, "x" * 70_000, b"", random.randbytes(256), random.randbytes(900_000)):
                await socket.send(payload)
                require(await socket.recv() == payload, f"{len(payload)} come back changed")
            await socket.send(["in ", "three ", "fragments"])
            require(await socket.recv() == "in three fragments", "fragments")
            await (await socket.ping(b"ping"))
            for i in range(500):
                await socket.send(str(i))
            for i in range(500):
                require(await socket.recv() == str(i), "a burst is out of order")
        require(socket.close_code == 1000, f"close code {socket.close_code}")
    async with websockets.connect(url, max_size=None) as socket:
        await socket.send("x" * ((1 << 20) + 1))
        try:
            await socket.recv()
            require(False, "a message beyond the limit came back")
        except websockets.ConnectionClosed:
            require(socket.close_code == 1009, f"close code {socket.close_code}, expected 1009")
    try:
        await websockets.connect(url.replace("/ws", "/pipeline"))
        require(False, "a page became a WebSocket")
    except websockets.InvalidStatusCode:
        pass


async def chat(port):
    url = f"ws://127.0.0.1:{port}/chat/tea"
    async with websockets.connect(url) as ada:
        require(await ada.recv() == "somebody came into tea", "no welcome")
        async with websockets.connect(url) as bob, websockets.connect(url.replace("tea", "other")) as other:
            require(await bob.recv() == "somebody came into tea", "no welcome")
            require(await ada.recv() == "somebody came into tea", "nobody told")
            require(await other.recv() == "somebody came into other", "no welcome")
            await bob.send("hello")
            require(await ada.recv() == await bob.recv() == "hello", "not heard")
        require(await ada.recv() == "somebody left", "nobody told")
    # A page of another host is refused.
    try:
        await websockets.connect(url, origin="https://evil.example")
        require(False, "another origin was let in")
    except websockets.InvalidStatusCode as error:
        require(error.status_code == 403, f"status {error.status_code}, expected 403")


async def drain(port, server):
    async with websockets.connect(f"ws://127.0.0.1:{port}/ws") as socket:
        await socket.send("x")
        await socket.recv()
        stopping = asyncio.get_running_loop().run_in_executor(None, server.stop)
        try:
            await socket.recv()
            require(False, "a message in place of a goodbye")
        except websockets.ConnectionClosed:
            require(socket.close_code == 1001, f"close code {socket.close_code}, expected 1001")
        require(await stopping == 0, "the entry did not end with 0")


def main():
    arena, chat_example = sys.argv[1:3]
    others = [flag for name in ("h1-tls", "h2c", "h2", "h3") for flag in (f"--{name}", "off")]
    with ServerProcess([arena, "--h1", "127.0.0.1:0", "--loops", "2", *others], ARENA_AT) as server:
        port = int(server.found[1])
        asyncio.run(asyncio.wait_for(echo(port), SECONDS_MAX))
        asyncio.run(asyncio.wait_for(drain(port, server), SECONDS_MAX))
    # It tells its place on stderr.
    with ServerProcess(["sh", "-c", f"exec {chat_example} 0 2>&1"], CHAT_AT) as server:
        asyncio.run(asyncio.wait_for(chat(int(server.found[1])), SECONDS_MAX))
        require(server.stop() == 0, "the chat did not end with 0")
    print("python3-websockets agrees")


if __name__ == "__main__":
    main()
