"""A bad network between client and server, where the kernel has none (tc netem): a relay on loopback that delays, tears
what is sent into pieces of its own, lets one direction run ahead of the other, and now and then cuts a connection."""

import random
import selectors
import socket
import threading
import time

PIECE_MAX = 3000
DELAY_MAX_SECONDS = 0.02


class Way:
    """One direction of a connection."""

    def __init__(self, source, target):
        self.source, self.target = source, target
        self.queue = []  # (due, bytes), in order
        self.is_ended = False


class Relay(threading.Thread):
    def __init__(self, port, seed, cut_share=0.002):
        super().__init__(daemon=True)
        self.server_port, self.choice, self.cut_share = port, random.Random(seed), cut_share
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.listener.setblocking(False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.ways = []
        self.is_over = False
        self.pieces = self.cuts = 0

    def run(self):
        while not self.is_over:
            for key, _ in self.selector.select(0.002):
                self.accept() if key.data is None else self.read(key.data)
            self.deliver()
        for way in list(self.ways):
            self.drop(way)
        self.selector.close()
        self.listener.close()

    def accept(self):
        client, _ = self.listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", self.server_port), 10)
        except OSError:
            client.close()
            return
        for source, target in ((client, server), (server, client)):
            source.setblocking(False)
            way = Way(source, target)
            self.ways.append(way)
            self.selector.register(source, selectors.EVENT_READ, way)

    def read(self, way):
        try:
            data = way.source.recv(self.choice.randrange(1, 1 << self.choice.randrange(1, 16)))
        except BlockingIOError:
            return
        except OSError:
            self.drop(way)
            return
        if self.choice.random() < self.cut_share:
            self.cuts += 1
            self.drop(way)
            return
        if not data:
            self.selector.unregister(way.source)
            way.is_ended = True
            return
        due = max(time.monotonic() + self.choice.random() * DELAY_MAX_SECONDS, way.queue[-1][0] if way.queue else 0)
        while data:
            size = self.choice.randrange(1, PIECE_MAX)
            way.queue.append((due, data[:size]))
            data = data[size:]

    def deliver(self):
        now = time.monotonic()
        for way in list(self.ways):
            try:
                while way.queue and way.queue[0][0] <= now:
                    sent = way.target.send(way.queue[0][1])
                    self.pieces += 1
                    rest = way.queue[0][1][sent:]
                    if rest:
                        way.queue[0] = (way.queue[0][0], rest)
                        break
                    way.queue.pop(0)
                if way.is_ended and not way.queue:
                    self.drop(way)
            except BlockingIOError:
                continue
            except OSError:
                self.drop(way)

    def drop(self, way):
        """Both directions."""
        for each in [other for other in self.ways if other.source in (way.source, way.target)]:
            self.ways.remove(each)
            if not each.is_ended:
                self.selector.unregister(each.source)
        way.source.close()
        way.target.close()

    def stop(self):
        self.is_over = True
        self.join(10)
