"""The shapes of traffic that have a budget: what is sent on which listener, and what has to come back.

To add one: a line in SHAPES, then `bench/budgets.py --build build/bench --write` for its first budget.
"""

import dataclasses
from collections.abc import Callable

from .wires import Http1, Http2, WebSocket, get, post, post_chunked


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    listener: str  # the flag of the arena entry that opens it
    open: Callable  # (port, is_secure) -> Wire
    depth: int = 1  # requests in one write
    # More than one: how many are served in one turn depends on chance, so that is for comparing and not for budgets.
    connections: int = 1
    note: str = ""  # for the table

    @property
    def is_secure(self):
        return self.listener in ("--h1-tls", "--h2")


def http1(request, body, listener="--h1"):
    return {"listener": listener, "open": lambda port, is_secure: Http1(port, is_secure, request, body)}


def http2(target, body, listener):
    return {"listener": listener, "open": lambda port, is_secure: Http2(port, is_secure, target, body)}


def websocket(target):
    return {"listener": "--h1", "open": lambda port, is_secure: WebSocket(port, is_secure, target)}


SUM = "/baseline11?a=13&b=42"
SUM2 = "/baseline2?a=13&b=42"
FILE = "/static/16k.bin"
FILE_BODY = bytes(range(256)) * 64

SHAPES = (
    Shape("h1-get", **http1(get(SUM), b"55"), note="two query values, routed, their sum"),
    Shape("h1-pipelined", depth=16, **http1(get(SUM), b"55"), note="the same, 16 in one write"),
    Shape("h1-post", **http1(post(SUM), b"75"), note="and a body with a length"),
    Shape("h1-chunked", **http1(post_chunked(SUM), b"75"), note="and a body in chunks"),
    Shape("h1-parameter", **http1(get("/delay/0"), b"0"), note="{ms} in the path, a coroutine"),
    Shape("h1-literal", depth=16, **http1(get("/pipeline"), b"ok"), note="a constant text, 16 in one write"),
    Shape("h1-tls-get", **http1(get(SUM), b"55", "--h1-tls"), note="like h1-get, over TLS 1.3"),
    Shape("h1-static", **http1(get(FILE), FILE_BODY), note="a file of 16 KiB, kept in memory"),
    Shape("h1-json", **http1(get("/json/50?m=6"), None), note="50 items of the data set, written for each request"),
    Shape("h2c-get", **http2(SUM2, b"55", "--h2c"), note="like h1-get, over HTTP/2"),
    Shape("h2c-32", depth=32, **http2(SUM2, b"55", "--h2c"), note="the same, 32 streams in one write"),
    Shape("h2c-static", **http2(FILE, FILE_BODY, "--h2c"), note="the file of 16 KiB over HTTP/2"),
    Shape("h2-get", **http2(SUM2, b"55", "--h2"), note="like h2c-get, over TLS 1.3"),
    Shape("ws-echo", **websocket("/ws"), note="a message of five bytes and its echo"),
    Shape("ws-echo-16", depth=16, **websocket("/ws"), note="the same, 16 in one write"),
)

# Of these a connection is held idle after one request; the name is that of the wire.
IDLE = (
    Shape("h1", **http1(get(SUM), b"55")),
    Shape("h1-tls", **http1(get(SUM), b"55", "--h1-tls")),
    Shape("h2c", **http2(SUM2, b"55", "--h2c")),
    Shape("ws", **websocket("/ws")),
)

# What docs/performance.md has promised: a turn of the loop shared by eight connections. Name, must, aim.
MARKS = (
    (Shape("GET, 8 connections", connections=8, **http1(get(SUM), None)), 2200, 1600),
    (Shape("GET, 8 connections, 16 pipelined", connections=8, depth=16, **http1(get(SUM), None)), 1500, 1000),
)
