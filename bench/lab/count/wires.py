"""Clients for counting: known requests on one connection, a batch at a time, every answer checked.

A wire sends `depth` requests with one write and then reads their answers; nothing depends on how fast anybody is, so
the same work is counted each time.
"""

import re
import socket
import ssl
import struct

from ..process import LabError

AUTHORITY = "127.0.0.1:8080"
FIELDS = f"Host: {AUTHORITY}\r\nUser-Agent: violet-bench\r\n"


def get(target, fields=""):
    return f"GET {target} HTTP/1.1\r\n{FIELDS}{fields}\r\n".encode()


def post(target, body="20"):
    return f"POST {target} HTTP/1.1\r\n{FIELDS}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def post_chunked(target, body="20"):
    chunk = f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"
    return f"POST {target} HTTP/1.1\r\n{FIELDS}Transfer-Encoding: chunked\r\n\r\n{chunk}".encode()


def connect(port, protocol=None):
    """A socket; with `protocol` over TLS, where that is what ALPN has to agree on."""
    plain = socket.create_connection(("127.0.0.1", port), 20)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if protocol is None:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    secure = context.wrap_socket(plain)
    if secure.selected_alpn_protocol() not in (protocol, None):
        raise LabError(f"{secure.selected_alpn_protocol()} was chosen instead of {protocol}")
    return secure


class Wire:
    """One connection. `body`: what every answer has to hold; None: what the first one holds."""

    protocol = None  # of ALPN, where the wire is secure

    def __init__(self, port, is_secure, body=None):
        self.socket = connect(port, self.protocol if is_secure else None)
        self.is_secure = is_secure
        self.body = body
        self.data = b""

    def close(self):
        self.socket.close()

    def more(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise LabError("the connection was closed")
        self.data += data

    def take(self, size):
        while len(self.data) < size:
            self.more()
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def check(self, body):
        if self.body is None:
            self.body = body
        if body != self.body:
            raise LabError(f"a wrong body: {body[:100]!r} instead of {self.body[:100]!r}")


class Http1(Wire):
    protocol = "http/1.1"
    HEAD = re.compile(rb"^HTTP/1\.1 200 .*?\r\ncontent-length: (\d+)\r\n", re.IGNORECASE | re.DOTALL)

    def __init__(self, port, is_secure, request, body=None):
        super().__init__(port, is_secure, body)
        self.request = request

    def send(self, depth):
        self.socket.sendall(self.request * depth)

    def receive(self, depth):
        for _ in range(depth):
            while b"\r\n\r\n" not in self.data:
                self.more()
            head = self.take(self.data.index(b"\r\n\r\n") + 4)
            length = self.HEAD.search(head)
            if not length:
                raise LabError(f"not a 200 with a length: {head[:80]!r}")
            self.check(self.take(int(length[1])))


class WebSocket(Wire):
    """Echo of small binary messages."""

    protocol = "http/1.1"
    MASK = b"\x01\x02\x03\x04"

    def __init__(self, port, is_secure, target, message=b"hello"):
        super().__init__(port, is_secure, message)
        fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        self.socket.sendall(get(target, fields + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"))
        while b"\r\n\r\n" not in self.data:
            self.more()
        if not self.data.startswith(b"HTTP/1.1 101 "):
            raise LabError(f"no upgrade: {self.data[:80]!r}")
        self.take(self.data.index(b"\r\n\r\n") + 4)
        masked = bytes(byte ^ self.MASK[i % 4] for i, byte in enumerate(message))
        self.frame = bytes((0x82, 0x80 | len(message))) + self.MASK + masked

    def send(self, depth):
        self.socket.sendall(self.frame * depth)

    def receive(self, depth):
        for _ in range(depth):
            first, size = self.take(2)
            if first != 0x82 or size > 125:
                raise LabError(f"not a small binary message: {first:#x}, {size}")
            self.check(self.take(size))


class Http2(Wire):
    """GET requests: the first names its fields, those that follow point into the dynamic table as clients do."""

    protocol = "h2"
    DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
    END_STREAM, END_HEADERS = 1, 4
    WINDOW = (1 << 31) - 1

    def __init__(self, port, is_secure, target, body=None):
        super().__init__(port, is_secure, body)
        text = lambda value: bytes((len(value),)) + value.encode()  # noqa: E731
        scheme = b"\x87" if is_secure else b"\x86"
        # :method GET, :scheme, then :path, :authority and user-agent with incremental indexing (RFC 7541 §6.2.1).
        named = b"\x44" + text(target) + b"\x41" + text(AUTHORITY) + b"\x7a" + text("violet-bench")
        self.first_block = b"\x82" + scheme + named
        self.next_block = b"\x82" + scheme + b"\xc0\xbf\xbe"
        self.stream = -1
        self.bodies = {}
        settings = struct.pack(">HIHI", 4, self.WINDOW, 2, 0)
        opening = self.frame(self.SETTINGS, 0, 0, settings)
        opening += self.frame(8, 0, 0, struct.pack(">I", self.WINDOW - 65535))
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + opening)
        while self.read_frame() != (self.SETTINGS, 0):
            pass
        self.socket.sendall(self.frame(self.SETTINGS, 1, 0, b""))

    @staticmethod
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload

    def send(self, depth):
        batch = b""
        for _ in range(depth):
            block = self.first_block if self.stream < 0 else self.next_block
            self.stream += 2
            self.bodies[self.stream] = None
            batch += self.frame(self.HEADERS, self.END_HEADERS | self.END_STREAM, self.stream, block)
        self.socket.sendall(batch)

    def receive(self, depth):
        for _ in range(depth):
            before = len(self.bodies)
            while len(self.bodies) == before:
                self.read_frame()

    def read_frame(self):
        """(kind, flags) of a frame that was taken."""
        head = self.take(9)
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        payload = self.take(int.from_bytes(head[:3], "big"))
        if kind in (self.RST_STREAM, self.GOAWAY):
            raise LabError(f"frame {kind} on stream {stream}: {payload!r}")
        if kind == self.PING and not flags:
            self.socket.sendall(self.frame(self.PING, 1, 0, payload))
        if kind == self.HEADERS and self.bodies.get(stream) is None:
            # ":status: 200" is entry 8 of the static table; an update of the table's size may stand before it.
            if b"\x88" not in payload[:4] or not flags & self.END_HEADERS:
                raise LabError(f"not a 200 in one frame: {payload[:20]!r}")
            self.bodies[stream] = b""
        if kind == self.DATA:
            self.bodies[stream] += payload
        if kind in (self.HEADERS, self.DATA) and flags & self.END_STREAM:
            self.check(self.bodies.pop(stream))
        return kind, flags
