"""Two servers that are wrong on purpose: each case has to fail on one of them.

    Lax      answers whatever comes and minds nothing
    Touchy   ends the connection with INTERNAL_ERROR at the first thing that is asked of it
"""

import asyncio

from arena import h2, hpack


class Lax:
    async def __aenter__(self):
        self.writers = set()
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()
        await self.server.wait_closed()

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            writer.write(h2.settings())
            await reader.readexactly(len(h2.PREFACE))
            while True:
                start = await reader.readexactly(9)
                payload = await reader.readexactly(int.from_bytes(start[:3], "big"))
                self.on_frame(
                    writer, h2.Frame(start[3], start[4], int.from_bytes(start[5:9], "big") & 0x7FFFFFFF, payload)
                )
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    def on_frame(self, writer, got):
        if got.kind == h2.SETTINGS and not got.flags & h2.ACK:
            writer.write(h2.frame(h2.SETTINGS, h2.ACK))
        elif got.kind == h2.PING and not got.flags & h2.ACK:
            writer.write(h2.frame(h2.PING, h2.ACK, 0, got.payload))
        elif got.kind in (h2.HEADERS, h2.DATA) and got.flags & h2.END_STREAM:
            head = hpack.encode([(":status", "200"), ("content-type", "text/plain")])
            writer.write(h2.frame(h2.HEADERS, h2.END_HEADERS, got.stream, head))
            writer.write(h2.frame(h2.DATA, h2.END_STREAM, got.stream, b"2"))


class Touchy(Lax):
    def on_frame(self, writer, got):
        if got.kind == h2.SETTINGS and not got.payload:
            super().on_frame(writer, got)
            return
        writer.write(h2.frame(h2.GOAWAY, 0, 0, bytes(7) + bytes([h2.INTERNAL_ERROR])))
        writer.close()
