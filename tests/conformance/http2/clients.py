"""The clients that people use: curl, nghttp, h2load, and the library h2 of Python."""

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile

from arena import secure

from peer import Failure, require

SECONDS_MAX = 60
DEBIAN_PACKAGES = "/usr/lib/python3/dist-packages"  # also for an interpreter that is not Debian's


class Missing(Exception):
    """The client is not on this machine."""


def run(*command):
    if shutil.which(command[0]) is None:
        raise Missing(command[0])
    done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
    text = done.stdout.decode("latin-1") + done.stderr.decode("latin-1")
    require(done.returncode == 0, f"{' '.join(command)}: status {done.returncode}: {text[-300:]}")
    return text


def url(target, path):
    return f"{'https' if target.is_secure else 'http'}://127.0.0.1:{target.port}{path}"


def curl(target, *arguments):
    mode = ["--http2", "-k"] if target.is_secure else ["--http2-prior-knowledge"]
    return run("curl", "-sS", "--max-time", "30", *mode, *arguments)


def curl_gets(target):
    text = curl(target, "-i", url(target, "/baseline2?a=13&b=42"))
    require(text.startswith("HTTP/2 200"), f"answered {text[:40]!r}")
    require(re.search(r"^content-type: text/plain", text, re.MULTILINE) and text.endswith("55"), text)


def curl_upgrades(target):
    text = run("curl", "-sS", "-i", "--max-time", "30", "--http2", url(target, "/baseline2?a=13&b=42"))
    require(text.startswith("HTTP/1.1 101") and "HTTP/2 200" in text and text.endswith("55"), text)


def curl_posts(target):
    with tempfile.NamedTemporaryFile() as sent, tempfile.NamedTemporaryFile() as received:
        sent.write(bytes(range(256)) * 4096)
        sent.flush()
        curl(target, "--data-binary", f"@{sent.name}", "-o", received.name, url(target, "/echo"))
        require(received.read() == bytes(range(256)) * 4096, "the megabyte came back as something else")


def nghttp_gets(target):
    text = run(
        "nghttp",
        "-v",
        "-n",
        *["--no-verify-peer"] * target.is_secure,
        *[url(target, f"/baseline2?a={i}&b=1") for i in range(20)],
    )
    require(text.count(":status: 200") == 20, f"{text.count(':status: 200')} of 20 answers: {text[-300:]}")


def nghttp_upgrades(target):
    text = run("nghttp", "-v", "-n", "-u", url(target, "/baseline2?a=1&b=1"))
    require(text.count(":status: 200") == 1, text[-300:])


def nghttp_trailers(target):
    with tempfile.NamedTemporaryFile() as sent:
        sent.write(b"x" * 100_000)
        sent.flush()
        text = run(
            "nghttp",
            *["--no-verify-peer"] * target.is_secure,
            "-d",
            sent.name,
            "--trailer",
            "x-sum: 1",
            url(target, "/upload"),
        )
        require("100000" in text, text[-300:])


def load(target, path, *arguments):
    text = run("h2load", "-n", "20000", "-c", "10", "-m", "32", *arguments, url(target, path))
    found = re.search(r"requests: 20000 total, 20000 started, 20000 done, 20000 succeeded", text)
    require(found and "20000 2xx" in text, text[-600:])


def h2load_gets(target):
    load(target, "/baseline2?a=1&b=1")


def h2load_posts(target):
    with tempfile.NamedTemporaryFile() as sent:
        sent.write(b"x" * 3000)
        sent.flush()
        load(target, "/echo", "-d", sent.name)


def library(target):
    """python3-h2: 50 streams at once, bodies of several windows, flow control by the library."""
    sys.path.append(DEBIAN_PACKAGES)
    try:
        from h2 import config, connection, events
    except ImportError:
        raise Missing("python3-h2") from None
    finally:
        sys.path.remove(DEBIAN_PACKAGES)

    async def talk():
        context = secure.context(("h2",)) if target.is_secure else None
        reader, writer = await asyncio.open_connection("127.0.0.1", target.port, ssl=context)
        client = connection.H2Connection(config.H2Configuration(client_side=True, header_encoding="utf-8"))
        client.initiate_connection()
        bodies = {stream: bytes([stream]) * (stream * 1000) for stream in range(1, 101, 2)}
        waiting = dict(bodies)
        heads, found, open_streams = {}, dict.fromkeys(bodies, b""), set(bodies)
        for stream in bodies:
            fields = [(":method", "POST"), (":scheme", "https"), (":path", "/echo"), (":authority", "localhost")]
            client.send_headers(stream, [*fields, ("content-length", str(len(bodies[stream])))])

        def send_what_fits():
            for stream in list(waiting):
                while True:
                    room = min(client.local_flow_control_window(stream), client.max_outbound_frame_size)
                    piece, rest = waiting[stream][:room], waiting[stream][room:]
                    if not piece:
                        break
                    client.send_data(stream, piece, end_stream=not rest)
                    waiting[stream] = rest
                    if not rest:
                        del waiting[stream]
                        break

        send_what_fits()
        while open_streams:
            writer.write(client.data_to_send())
            data = await asyncio.wait_for(reader.read(65536), 10)
            require(data, "the connection was closed")
            for event in client.receive_data(data):
                if isinstance(event, events.ResponseReceived):
                    heads[event.stream_id] = dict(event.headers)
                elif isinstance(event, events.DataReceived):
                    found[event.stream_id] += event.data
                    client.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, events.StreamEnded):
                    open_streams.discard(event.stream_id)
                elif isinstance(event, events.StreamReset | events.ConnectionTerminated):
                    raise Failure(f"{event}")
            send_what_fits()
        writer.close()
        require(found == bodies, "a body came back as another")
        require(all(head[":status"] == "200" for head in heads.values()), "a status other than 200")

    asyncio.run(asyncio.wait_for(talk(), SECONDS_MAX))


CLIENTS = {
    "curl.get": curl_gets,
    "curl.upgrade": curl_upgrades,
    "curl.post": curl_posts,
    "nghttp.get": nghttp_gets,
    "nghttp.upgrade": nghttp_upgrades,
    "nghttp.trailers": nghttp_trailers,
    "h2load.get": h2load_gets,
    "h2load.post": h2load_posts,
    "python3-h2.echo": library,
}
