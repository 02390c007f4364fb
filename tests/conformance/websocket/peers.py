#!/usr/bin/env python3
"""peers.py ARENA CHAT VIOLET: python3-websockets against our servers, and our client against it.

The benchmark entry echoes, the chat example publishes, `violet load --verify` is the client. Exit status 77 where
python3-websockets is not installed.
"""

import asyncio
import contextlib
import pathlib
import random
import re
import ssl
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import arena_echo  # noqa: E402
from server_process import ServerProcess  # noqa: E402

try:
    import websockets
except ImportError:
    print("python3-websockets is not installed")
    sys.exit(77)

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


async def secure_echo(port):
    """The local certificate is known to nobody."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    async with websockets.connect(f"wss://127.0.0.1:{port}/ws", ssl=context, max_size=None) as socket:
        for payload in ("hello", random.randbytes(300_000)):
            await socket.send(payload)
            require(await socket.recv() == payload, f"{len(payload)} come back changed")


async def our_client(violet):
    async def echo_back(socket):
        # At the end of a run the load cuts what it has open.
        with contextlib.suppress(websockets.ConnectionClosed):
            async for message in socket:
                await socket.send(message)

    # The client does not offer permessage-deflate, so that this server takes it or not.
    for compression in (None, "deflate"):
        async with websockets.serve(echo_back, "127.0.0.1", 0, compression=compression, max_size=None) as server:
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            for size in ("1", "126", "65536", "300000"):
                for kind in ([], ["--binary"]):
                    load = ["-q", "--verify", "-c", "2", "-p", "4", "-n", "100", "-r", "20", "--size", size, *kind, url]
                    client = await asyncio.create_subprocess_exec(violet, "load", *load, stdout=asyncio.subprocess.PIPE)
                    told, _ = await client.communicate()
                    require(client.returncode == 0, told.decode())


def main():
    arena, chat_example, violet = sys.argv[1:4]
    with tempfile.TemporaryDirectory(prefix="violet-peers-") as certificates:
        arena_echo.make_certificate(certificates)
        with arena_echo.serve(arena, "h1-tls", certificates) as server:
            asyncio.run(asyncio.wait_for(secure_echo(int(server.found[1])), SECONDS_MAX))
    with arena_echo.serve(arena, "h1", loops=2) as server:
        port = int(server.found[1])
        asyncio.run(asyncio.wait_for(echo(port), SECONDS_MAX))
        asyncio.run(asyncio.wait_for(drain(port, server), SECONDS_MAX))
    # It tells its place on stderr.
    with ServerProcess(["sh", "-c", f"exec {chat_example} 0 2>&1"], CHAT_AT) as server:
        asyncio.run(asyncio.wait_for(chat(int(server.found[1])), SECONDS_MAX))
        require(server.stop() == 0, "the chat did not end with 0")
    asyncio.run(asyncio.wait_for(our_client(violet), SECONDS_MAX))
    print("python3-websockets agrees in both roles")


if __name__ == "__main__":
    main()
