"""The shapes of traffic that have a budget: what is sent on which listener, and what has to come back.

To add one: a line in SHAPES, then `bench/budgets.py --build build/bench --write` for its first budget.
"""

import dataclasses
from collections.abc import Callable

from .wires import Http1, get, post, post_chunked


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


SUM = "/baseline11?a=13&b=42"

SHAPES = (
    Shape("h1-get", **http1(get(SUM), b"55"), note="two query values, routed, their sum"),
    Shape("h1-pipelined", depth=16, **http1(get(SUM), b"55"), note="the same, 16 in one write"),
    Shape("h1-post", **http1(post(SUM), b"75"), note="and a body with a length"),
    Shape("h1-chunked", **http1(post_chunked(SUM), b"75"), note="and a body in chunks"),
    Shape("h1-parameter", **http1(get("/delay/0"), b"0"), note="{ms} in the path, a coroutine"),
    Shape("h1-literal", depth=16, **http1(get("/pipeline"), b"ok"), note="a constant text, 16 in one write"),
    Shape("h1-tls-get", **http1(get(SUM), b"55", "--h1-tls"), note="like h1-get, over TLS 1.3"),
)

# Of these a connection is held idle after one request; the name is that of the wire.
IDLE = (
    Shape("h1", **http1(get(SUM), b"55")),
    Shape("h1-tls", **http1(get(SUM), b"55", "--h1-tls")),
)

# What docs/performance.md has promised: a turn of the loop shared by eight connections. Name, must, aim.
MARKS = (
    (Shape("GET, 8 connections", connections=8, **http1(get(SUM), None)), 2200, 1600),
    (Shape("GET, 8 connections, 16 pipelined", connections=8, depth=16, **http1(get(SUM), None)), 1500, 1000),
)
