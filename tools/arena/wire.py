"""A small strict HTTP/1.1 client on asyncio: it sends exactly the bytes it is given and believes no answer unseen."""

import asyncio
import copy
import re
import socket
import time

STATUS_LINE = re.compile(rb"HTTP/1\.1 ([0-9]{3}) ?[^\r\n]*")
FIELD_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*")
HEAD_BYTES_MAX = 16384


class Failure(Exception):
    """A check failed; the text says how."""


def require(condition, text):
    if not condition:
        raise Failure(text)


class Answer:
    """One response: status, fields by lower-case name, body, and how long it took from the last write."""

    def __init__(self, status, fields, body, seconds):
        self.status = status
        self.fields = fields
        self.body = body
        self.seconds = seconds

    def expect(self, body, status=200):
        require(self.status == status, f"status {self.status}, expected {status}; body {short(self.body)}")
        require(self.body in (body, body + b"\n"), f"body {short(self.body)}, expected {short(body)}")
        return self

    def expect_type(self, wanted):
        found = self.fields.get("content-type", "")
        require(found == wanted or found.startswith(wanted + ";"), f"Content-Type {found!r}, expected {wanted!r}")
        return self

    def expect_refused(self):
        require(400 <= self.status < 500, f"status {self.status}, expected 4xx")
        return self


def short(body):
    text = repr(bytes(body[:60]))[1:]
    return text if len(body) <= 60 else f"{text}… ({len(body)} bytes)"


class Wire:
    """One connection. Every operation ends within `timeout` seconds, or fails."""

    def __init__(self, reader, writer, timeout):
        self.reader = reader
        self.writer = writer
        self.timeout = timeout
        self.written_at = 0.0

    async def write(self, data):
        self.written_at = time.monotonic()  # before it leaves: a wait must not look short on a busy machine
        self.writer.write(data)
        await self._bounded(self.writer.drain(), "writing")

    async def write_pieces(self, pieces, pause):
        """Each piece in a segment of its own, as far as the system lets one choose."""
        for index, piece in enumerate(pieces):
            if index:
                await asyncio.sleep(pause)
            await self.write(piece)

    async def answer(self, skip_informational=True):
        while True:
            status, fields = await self._head()
            if status >= 200 or not skip_informational:
                break
        body = b"" if status < 200 or status in (204, 304) else await self._body(fields)
        return Answer(status, fields, body, time.monotonic() - self.written_at)

    async def expect_end(self):
        """The server closes, and has sent nothing more."""
        rest = await self._bounded(self.reader.read(64), "waiting for the end of the connection")
        require(rest == b"", f"bytes after the answer: {short(rest)}")

    async def expect_silence(self, seconds):
        """Nothing comes, and the connection stays."""
        try:
            data = await asyncio.wait_for(self.reader.read(64), seconds)
        except TimeoutError:
            return
        raise Failure(f"unexpected {short(data)}" if data else "the connection was closed")

    def close(self):
        self.writer.close()

    def abort(self):
        self.writer.transport.abort()

    async def _head(self):
        try:
            head = await self._bounded(self.reader.readuntil(b"\r\n\r\n"), "waiting for an answer")
        except asyncio.IncompleteReadError as error:
            got = f"after {short(error.partial)}" if error.partial else "without an answer"
            raise Failure(f"the connection was closed {got}") from None
        lines = head[:-4].split(b"\r\n")
        match = STATUS_LINE.fullmatch(lines[0])
        require(match, f"status line {short(lines[0])}")
        fields = {}
        for line in lines[1:]:
            field = FIELD_LINE.fullmatch(line)
            require(field, f"field line {short(line)}")
            name = field[1].decode().lower()
            require(name not in ("content-length", "transfer-encoding") or name not in fields, f"two {name} lines")
            fields[name] = field[2].decode("latin-1")
        return int(match[1]), fields

    async def _body(self, fields):
        try:
            if "transfer-encoding" in fields:
                require(fields["transfer-encoding"].lower() == "chunked", "a Transfer-Encoding other than chunked")
                require("content-length" not in fields, "Content-Length beside Transfer-Encoding")
                return await self._bounded(self._chunks(), "reading chunks")
            if "content-length" in fields:
                length = fields["content-length"]
                require(length.isdigit(), f"Content-Length {length!r}")
                return await self._bounded(self.reader.readexactly(int(length)), "reading the body")
            require(fields.get("connection", "").lower() == "close", "neither a length nor Connection: close")
            return await self._bounded(self.reader.read(-1), "reading to the end")
        except asyncio.IncompleteReadError as error:
            raise Failure(f"the body ended after {len(error.partial)} bytes") from None

    async def _chunks(self):
        body = bytearray()
        while True:
            line = await self.reader.readuntil(b"\r\n")
            size = line[:-2].split(b";")[0]
            require(re.fullmatch(rb"[0-9A-Fa-f]+", size), f"chunk size line {short(line)}")
            if int(size, 16) == 0:
                break
            body += await self.reader.readexactly(int(size, 16))
            require(await self.reader.readexactly(2) == b"\r\n", "no CRLF behind a chunk")
        while await self.reader.readuntil(b"\r\n") != b"\r\n":
            pass
        return bytes(body)

    async def _bounded(self, work, what):
        try:
            return await asyncio.wait_for(work, self.timeout)
        except TimeoutError:
            raise Failure(f"nothing for {self.timeout:g} s while {what}") from None
        except (ConnectionError, BrokenPipeError) as error:
            raise Failure(f"{type(error).__name__} while {what}") from None


class Entry:
    """The entry that is checked: where it listens, and how patient we are."""

    tls = None  # an ssl.SSLContext: speaks TLS by it
    protocols = ("http/1.1",)  # offered by ALPN
    static = None  # the folder that is served as /static, where it can be reached

    def __init__(self, host, port, timeout=10.0, split_pause=0.2, batch=384):
        self.host = host
        self.port = port
        self.timeout = timeout
        self.split_pause = split_pause
        self.batch = batch

    def with_timeout(self, timeout):
        other = copy.copy(self)
        other.timeout = timeout
        return other

    async def connect(self, tls=None, server_name="localhost"):
        """`tls` instead of the entry's own context; a `server_name` of None sends none."""
        tls = tls or self.tls
        named = {"ssl": tls, "server_hostname": server_name or ""} if tls else {}
        try:
            reader, writer = await asyncio.wait_for(
                asyncio.open_connection(self.host, self.port, limit=HEAD_BYTES_MAX, **named), self.timeout
            )
        except (OSError, TimeoutError) as error:
            raise Failure(f"no connection: {error or type(error).__name__}") from None
        # asyncio does so by itself; the fragmentation checks depend on it.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Wire(reader, writer, self.timeout)

    async def exchange(self, request):
        """One request on a connection of its own."""
        wire = await self.connect()
        try:
            await wire.write(request)
            return await wire.answer()
        finally:
            wire.close()

    async def wait_until_up(self, seconds):
        """Polls as the platform does; Failure when nothing answers in time."""
        deadline = time.monotonic() + seconds
        quick = self.with_timeout(1.0)
        while True:
            try:
                answer = await quick.exchange(request("GET", "/baseline11?a=1&b=1"))
                if answer.status == 200:
                    return
                problem = f"status {answer.status}"
            except Failure as failure:
                problem = str(failure)
            if time.monotonic() >= deadline:
                raise Failure(f"{self.host}:{self.port} did not come up within {seconds:g} s: {problem}")
            await asyncio.sleep(0.1)


def request(method, target, *lines, body=None, chunks=None, host="localhost:8080"):
    """The bytes of a request. `body` is sent with its length, `chunks` chunked."""
    head = [f"{method} {target} HTTP/1.1", f"Host: {host}", *lines]
    payload = b""
    if chunks is not None:
        head.append("Transfer-Encoding: chunked")
        payload = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    elif body is not None:
        head.append(f"Content-Length: {len(body)}")
        payload = body
    return "\r\n".join(head).encode() + b"\r\n\r\n" + payload
