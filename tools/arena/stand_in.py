"""A small entry in this process, right unless it is given a fault: proves that every check passes and can fail."""

import asyncio
import gzip
import json
import pathlib
import re
import ssl
import tempfile
import urllib.parse

from . import certificates, dataset, socket_stand_in, stand_in_static

FAULTS = {
    **stand_in_static.FAULTS,
    "sum": "adds one too many",
    "sum_constant": "knows only 13 + 42",
    "post_ignores_body": "does not add the body",
    "chunked_ignored": "takes no chunked body",
    "type_get": "answers GET as text/html",
    "type_post": "answers POST as text/html",
    "type_delay": "answers /delay as text/html",
    "type_echo": "answers /echo as text/html",
    "cached": "keeps the answer of a URL",
    "case_sensitive": "knows names in their usual spelling only",
    "closes_after_one": "closes after every answer",
    "closes_after_nine": "closes after nine answers",
    "close_ignored": "never closes",
    "needs_whole_head": "takes a head in one piece only",
    "needs_whole_message": "takes a body only together with its head",
    "needs_whole_chunk": "takes a chunked body only together with its head",
    "shares_connections": "closes all connections when one is reset",
    "dies_of_noise": "stops serving after a malformed request",
    "pipeline_body": "answers /pipeline with OK",
    "answers_first_only": "answers one request a read",
    "answers_twice": "answers the last of a batch twice",
    "pipeline_reversed": "answers a batch backwards",
    "pipeline_overtakes": "answers what does not wait first",
    "pipeline_limit": "closes after 256 requests of one batch",
    "delay_short": "waits half as long",
    "delay_zero_waits": "waits a second for /delay/0",
    "delay_constant": "waits 100 ms always",
    "delays_mixed": "echoes the delay of the latest request",
    "delays_run_dry": "has 16 timers",
    "sluggish": "takes 60 ms to think",
    "echo_flips_a_bit": "changes the last byte",
    "echo_empty_refused": "refuses an empty body",
    "echo_mixed_up": "echoes the latest body of anybody",
    "no_continue": "does not answer Expect",
    "json_total": "multiplies the total once too often",
    "json_cached": "keeps the first listing of a count",
    "json_default": "takes 2 for the multiplier that does not come",
    "json_types": "writes totals as texts",
    "json_content_type": "answers /json as text/plain",
    "json_wrong": "answers /json for a count that is none",
    "json_comp_plain": "compresses no listing",
    "json_comp_kept": "keeps the first listing that it has compressed",
    "json_comp_no_vary": "says nothing of Accept-Encoding in Vary",
    "json_comp_forced": "compresses for who refuses it",
    "upload_constant": "always answers 17",
    "upload_limit": "takes 100,000 bytes at most",
    "upload_believes_length": "answers /upload before it has read",
    "other_certificate": "serves a certificate of its own",
    "no_tls13": "speaks TLS 1.2 only",
    "no_tls12": "speaks TLS 1.3 only",
    "takes_h2": "agrees on h2",
    "takes_tls10": "speaks TLS 1.0",
    "takes_null": "takes ciphers that encrypt nothing",
    "no_close_notify": "cuts its connections",
    "ignores_new_pair": "serves the certificate that it was started with",
    **socket_stand_in.FAULTS,
}

MEDIA = {"echo": "application/octet-stream", "json": "application/json"}
FRAMING = {"content-length": "Content-Length", "transfer-encoding": "Transfer-Encoding", "connection": "Connection"}


class Refused(Exception):
    pass


class Request:
    def __init__(self, method, target, fields):
        self.method = method
        self.target = target
        self.fields = fields
        self.body = b""


class StandIn:
    """With a folder of certificates it speaks TLS."""

    def __init__(self, fault=None, certs=None):
        self.fault = fault
        self.certs = certs
        self.cache = {}
        self.writers = set()
        self.latest_delay = ""
        self.latest_body = b""
        self.waiting = 0
        self.is_dead = False
        self.static = stand_in_static.StaticFolder(fault)

    async def __aenter__(self):
        self.tls = self.make_tls() if self.certs else None
        self.watching = asyncio.ensure_future(self.watch()) if self.certs else None
        self.server = await asyncio.start_server(
            self.serve, "127.0.0.1", 0, limit=1 << 17, backlog=1024, ssl=self.tls
        )
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        if self.watching:
            self.watching.cancel()
        self.server.close()
        self.close_all()
        await self.server.wait_closed()
        self.static.close()

    # --- TLS

    def make_tls(self):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.minimum_version = ssl.TLSVersion.TLSv1_2
        tls.set_alpn_protocols(["h2"] if self.fault == "takes_h2" else ["http/1.1"])
        if self.fault == "no_tls13":
            tls.maximum_version = ssl.TLSVersion.TLSv1_2
        if self.fault == "no_tls12":
            tls.minimum_version = ssl.TLSVersion.TLSv1_3
        if self.fault == "takes_tls10":
            tls.minimum_version = ssl.TLSVersion.TLSv1
            tls.set_ciphers("ALL:@SECLEVEL=0")
        if self.fault == "takes_null":
            tls.set_ciphers("NULL:@SECLEVEL=0")
        self.load(tls)
        return tls

    def load(self, tls):
        with tempfile.TemporaryDirectory() as other:
            folder = pathlib.Path(self.certs)
            if self.fault == "other_certificate":
                certificates.make(other)
                folder = pathlib.Path(other)
            tls.load_cert_chain(folder / "server.crt", folder / "server.key")

    async def watch(self):
        """New handshakes of one context use what was loaded last."""
        certificate = pathlib.Path(self.certs) / "server.crt"
        loaded = certificate.read_bytes()
        while self.fault != "ignores_new_pair":
            await asyncio.sleep(0.02)
            if certificate.read_bytes() == loaded:
                continue
            try:
                self.load(self.tls)
                loaded = certificate.read_bytes()
            except ssl.SSLError:
                pass  # the key is not there yet

    def close_all(self):
        for writer in list(self.writers):
            writer.transport.abort()

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            await self.serve_connection(reader, writer)
        except Refused:
            if self.fault == "dies_of_noise":
                self.is_dead = True
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        except asyncio.CancelledError:
            pass  # the server is closing
        except ConnectionError:
            if self.fault == "shares_connections":
                self.close_all()
        finally:
            self.writers.discard(writer)
            if self.fault == "no_close_notify":
                await writer.drain()
                await asyncio.sleep(0.05)
                writer.transport.abort()
            writer.close()

    async def serve_connection(self, reader, writer):
        buffered = bytearray()
        answered = 0
        while True:
            batch = await self.read_batch(reader, writer, buffered)
            if batch is None:
                return
            if batch[0].target == "/ws" and "upgrade" in batch[0].fields:
                await socket_stand_in.serve(self.fault, batch[0], reader, writer, buffered)
                return
            if len(batch) > 256 and self.fault == "pipeline_limit":
                return
            answers = await self.answer_batch(batch)
            for request, answer in zip(batch, answers, strict=False):
                wants_close = request.fields.get("connection", "").lower() == "close" and self.fault != "close_ignored"
                writer.write(answer)
                answered += 1
                if wants_close or self.fault == "closes_after_one":
                    return
                if answered == 9 and self.fault == "closes_after_nine":
                    return
            await writer.drain()

    async def answer_batch(self, batch):
        if self.fault == "answers_first_only":
            batch = batch[:1]
        if self.fault == "pipeline_overtakes":
            answers = [self.answer(request) for request in batch]
            done = [asyncio.ensure_future(answer) for answer in answers]
            order = []
            for future in done:
                future.add_done_callback(order.append)
            await asyncio.gather(*done)
            await asyncio.sleep(0)
            return [future.result() for future in order]
        answers = [await self.answer(request) for request in batch]
        if self.fault == "pipeline_reversed":
            answers.reverse()
        if self.fault == "answers_twice" and len(answers) > 1:
            answers[-1] *= 2
        return answers

    # --- reading

    async def read_batch(self, reader, writer, buffered):
        """All requests that are there, at least one; None at the end of the connection."""
        batch = []
        while True:
            if not buffered:
                if batch:
                    return batch
                data = await reader.read(1 << 17)
                if not data:
                    return None
                buffered += data
            request = await self.read_request(reader, writer, buffered)
            if request is None:
                return batch or None
            batch.append(request)

    async def more(self, reader, buffered, fault):
        if self.fault == fault:
            raise Refused
        data = await reader.read(1 << 17)
        if not data:
            raise ConnectionError
        buffered += data

    async def read_request(self, reader, writer, buffered):
        while (end := buffered.find(b"\r\n\r\n")) < 0:
            if len(buffered) > 32768 or re.search(rb"\r[^\n]|\0", buffered):
                raise Refused
            await self.more(reader, buffered, "needs_whole_head")
        lines = bytes(buffered[:end]).split(b"\r\n")
        del buffered[: end + 4]
        match = re.fullmatch(rb"([A-Z]+) (/[!-~]*) HTTP/1\.1", lines[0])
        if not match:
            raise Refused
        fields = {}
        for line in lines[1:]:
            field = re.fullmatch(rb"([A-Za-z0-9-]+):[ \t]*([ -~]*)", line)
            if not field or len(line) > 16384:
                raise Refused
            name = field[1].decode()
            lower = name.lower()
            if self.fault == "case_sensitive" and FRAMING.get(lower, name) != name:
                continue
            if lower == "content-length" and lower in fields:
                raise Refused
            fields[lower] = field[2].decode()
        request = Request(match[1].decode(), match[2].decode(), fields)
        await self.read_body(reader, writer, buffered, request)
        return request

    async def read_body(self, reader, writer, buffered, request):
        if "100-continue" in request.fields.get("expect", "") and self.fault != "no_continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if request.fields.get("transfer-encoding") == "chunked":
            if self.fault == "chunked_ignored":
                return
            await self.read_chunks(reader, buffered, request)
            return
        length = int(request.fields.get("content-length", "0"))
        if length > 100_000 and self.fault == "upload_limit":
            raise Refused
        if request.target == "/upload" and self.fault == "upload_believes_length":
            request.body = bytes(length)
            await self.answer_early(writer, request)
        while len(buffered) < length:
            await self.more(reader, buffered, "needs_whole_message")
        request.body = bytes(buffered[:length])
        del buffered[:length]

    async def answer_early(self, writer, request):
        writer.write(await self.answer(request))

    async def read_chunks(self, reader, buffered, request):
        body = bytearray()
        while True:
            while (end := buffered.find(b"\r\n")) < 0:
                await self.more(reader, buffered, "needs_whole_chunk")
            size = int(bytes(buffered[:end]), 16)
            while len(buffered) < end + 2 + size + 2:
                await self.more(reader, buffered, "needs_whole_chunk")
            body += buffered[end + 2 : end + 2 + size]
            del buffered[: end + 2 + size + 2]
            if size == 0:
                break
        request.body = bytes(body)

    # --- answering

    async def answer(self, request):
        if self.is_dead:
            raise ConnectionError
        if self.fault == "sluggish":
            await asyncio.sleep(0.06)
        url = urllib.parse.urlsplit(request.target)
        if url.path.startswith("/static/"):
            return self.static.answer(request, url.path)
        try:
            body, kind = await self.route(request, url.path, dict(urllib.parse.parse_qsl(url.query)))
        except (KeyError, ValueError):
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        if self.fault == f"type_{kind}":
            media = "text/html"
        else:
            media = MEDIA.get(kind, "text/plain")
        if kind == "json" and self.fault == "json_content_type":
            media = "text/plain"
        lines = f"Content-Type: {media}\r\n"
        if kind == "json":
            body, lines = self.compressed(request, body, lines)
        return f"HTTP/1.1 200 OK\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def compressed(self, request, body, lines):
        if self.fault != "json_comp_no_vary":
            lines += "Vary: Accept-Encoding\r\n"
        accepted = request.fields.get("accept-encoding", "")
        takes = "gzip" in accepted and ("q=0" not in accepted or self.fault == "json_comp_forced")
        if not takes or self.fault == "json_comp_plain":
            return body, lines
        if self.fault == "json_comp_kept":
            body = self.cache.setdefault("compressed", body)
        return gzip.compress(body), lines + "Content-Encoding: gzip\r\n"

    async def route(self, request, path, query):
        if path == "/baseline11":
            return self.baseline(request, query), request.method.lower()
        if path == "/pipeline":
            return (b"OK" if self.fault == "pipeline_body" else b"ok"), "pipeline"
        if path == "/echo":
            return await self.echo(request.body), "echo"
        if path == "/upload":
            return (b"17" if self.fault == "upload_constant" else str(len(request.body)).encode()), "upload"
        if path == "/ws" and self.fault == "ws_page":
            return b"a page", "page"
        if path.startswith("/delay/"):
            return await self.delay(int(path[len("/delay/") :])), "delay"
        if path.startswith("/json/"):
            return self.listing(path[len("/json/") :], query), "json"
        raise KeyError(path)

    def listing(self, count, query):
        if self.fault == "json_wrong" and not count.isdigit():
            count = "1"
        multiplier = int(query.get("m", "2" if self.fault == "json_default" else "1"))
        if self.fault == "json_cached":
            multiplier = self.cache.setdefault(count, self.cache.setdefault("multiplier", multiplier))
        if self.fault == "json_total":
            multiplier *= multiplier
        found = [dict(item, total=item["price"] * item["quantity"] * multiplier) for item in dataset.items()[: int(count)]]
        if self.fault == "json_types":
            found = [dict(item, total=str(item["total"])) for item in found]
        return json.dumps({"items": found, "count": len(found)}).encode()

    def baseline(self, request, query):
        if self.fault == "sum_constant":
            query = {"a": 13, "b": 42}
        total = int(query["a"]) + int(query["b"])
        if request.method == "POST" and request.body and self.fault != "post_ignores_body":
            total += int(request.body)
        if self.fault == "cached":
            total = self.cache.setdefault(request.target, total)
        return str(total + (self.fault == "sum")).encode()

    async def echo(self, body):
        if not body and self.fault == "echo_empty_refused":
            raise ValueError
        if body and self.fault == "echo_flips_a_bit":
            return body[:-1] + bytes([body[-1] ^ 1])
        if self.fault == "echo_mixed_up":
            self.latest_body = body
            await asyncio.sleep(0.005)
            return self.latest_body
        return body

    async def delay(self, ms):
        self.latest_delay = str(ms)
        seconds = ms / 1000
        if self.fault == "delay_short":
            seconds /= 2
        if self.fault == "delay_constant":
            seconds = 0.1
        if self.fault == "delay_zero_waits" and ms == 0:
            seconds = 1
        if self.fault == "delays_run_dry" and self.waiting >= 16:
            raise ValueError
        self.waiting += 1
        try:
            # asyncio's clock is coarse: it may call up to its resolution early.
            await asyncio.sleep(seconds + 0.0005 if seconds else 0)
        finally:
            self.waiting -= 1
        return (self.latest_delay if self.fault == "delays_mixed" else str(ms)).encode()
