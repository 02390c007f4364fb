"""A client for counting: a fixed number of known requests over a few connections in lockstep, every answer checked."""

import re
import socket

from .process import LabError

FIELDS = "Host: 127.0.0.1:8080\r\nUser-Agent: violet-bench\r\n"


def get(target):
    return f"GET {target} HTTP/1.1\r\n{FIELDS}\r\n".encode()


def post(target, body="20"):
    return f"POST {target} HTTP/1.1\r\n{FIELDS}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def post_chunked(target, body="20"):
    chunk = f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"
    return f"POST {target} HTTP/1.1\r\n{FIELDS}Transfer-Encoding: chunked\r\n\r\n{chunk}".encode()


class Lockstep:
    """Each round writes `depth` requests on each connection, then reads all answers."""

    def __init__(self, port, connections):
        self.sockets = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(connections)]
        for each in self.sockets:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.sockets:
            each.close()

    def run(self, request, rounds, depth=1):
        """Returns how many requests were answered."""
        batch = request * depth
        first = self._first_answer(request)
        for _ in range(rounds):
            for each in self.sockets:
                each.sendall(batch)
            for each in self.sockets:
                self._read(each, first, depth)
        return rounds * depth * len(self.sockets)

    def _first_answer(self, request):
        """One answer, whose size and body all others have to have."""
        each = self.sockets[0]
        each.sendall(request)
        data = b""
        while True:
            data += self._some(each)
            head, end, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"\r\ncontent-length: (\d+)", head, re.IGNORECASE)
            if end and not (length and head.startswith(b"HTTP/1.1 200 ")):
                raise LabError(f"not a 200 with a length: {data[:60]!r}")
            if end and len(body) >= int(length[1]):
                return data

    @staticmethod
    def _some(each):
        data = each.recv(65536)
        if not data:
            raise LabError("the connection was closed")
        return data

    def _read(self, each, first, depth):
        data = b""
        while len(data) < len(first) * depth:
            data += self._some(each)
        body = first[first.index(b"\r\n\r\n") :]
        if len(data) != len(first) * depth or data.count(b"HTTP/1.1 200") != depth or data.count(body) != depth:
            raise LabError(f"a wrong answer: {data[:200]!r}")
