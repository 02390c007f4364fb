"""Clients in trouble: each keeps one connection, checks every answer to the byte, and sends again what is safe."""

import random
import socket
import threading
import time

PATIENCE_SECONDS = 30  # longer without a byte is a hang
CONNECT_SECONDS = 30


class Fault(Exception):
    """The server did what it must not."""


class Cut(Exception):
    """The connection broke: nobody promised that it would not."""


class Connection:
    def __init__(self, port):
        self.data = b""
        try:
            self.socket = socket.create_connection(("127.0.0.1", port), CONNECT_SECONDS)
        except OSError as error:
            raise Cut(str(error)) from None
        self.socket.settimeout(PATIENCE_SECONDS)

    def close(self):
        self.socket.close()

    def more(self):
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            raise Fault(f"nothing came for {PATIENCE_SECONDS} s") from None
        except OSError as error:
            raise Cut(str(error)) from None
        if not data:
            raise Cut("closed")
        self.data += data

    def ask(self, request):
        """(status, head, body)"""
        try:
            self.socket.sendall(request)
        except TimeoutError:
            raise Fault("the request was not taken") from None
        except OSError as error:
            raise Cut(str(error)) from None
        while b"\r\n\r\n" not in self.data:
            self.more()
        head, _, rest = self.data.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(fields[b"content-length"])
        while len(rest) < length:
            self.more()
            rest = self.data.partition(b"\r\n\r\n")[2]
        self.data = rest[length:]
        return int(head[9:12]), fields, rest[:length]


def get(target):
    return f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def post(target, body):
    return f"POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def question(choice):
    """(request, the body its answer has to have, whether it may be sent twice)"""
    a, b = choice.randrange(1000), choice.randrange(1000)
    kind = choice.randrange(4)
    if kind == 0:
        body = choice.randbytes(choice.randrange(60000))
        return post("/echo", body), body, False
    if kind == 1:
        ms = choice.randrange(20)
        return get(f"/delay/{ms}"), str(ms).encode(), True
    return get(f"/baseline11?a={a}&b={b}"), str(a + b).encode(), True


class Asker(threading.Thread):
    """Asks until stop(). What is safe is sent again until it is answered; the rest is given up when it is cut."""

    def __init__(self, port, seed):
        super().__init__(daemon=True)
        self.port, self.choice = port, random.Random(seed)
        self.is_over = threading.Event()
        self.answered = self.cut = self.given_up = 0
        self.fault = None
        self.connection = None

    def run(self):
        try:
            while not self.is_over.is_set():
                self.settle(*question(self.choice))
        except Fault as fault:
            self.fault = str(fault)
        except Exception as error:  # noqa: BLE001 a broken client must not look like a good server
            self.fault = f"{type(error).__name__}: {error}"
        finally:
            if self.connection is not None:
                self.connection.close()

    def settle(self, request, body, is_safe):
        while True:
            try:
                if self.connection is None:
                    self.connection = Connection(self.port)
                status, _, got = self.connection.ask(request)
            except Cut:
                self.cut += 1
                if self.connection is not None:
                    self.connection.close()
                self.connection = None
                if not is_safe:
                    self.given_up += 1
                    return
                if self.is_over.wait(0.02):
                    return
                continue
            if status != 200 or got != body:
                raise Fault(f"{request[:60]!r} was answered {status} {got[:60]!r}")
            self.answered += 1
            return


class Crowd:
    """Askers at work for as long as the `with` lasts; afterwards it knows what came of them."""

    def __init__(self, port, count=6, seed=1):
        self.askers = [Asker(port, seed + i) for i in range(count)]

    def __enter__(self):
        for asker in self.askers:
            asker.start()
        return self

    def __exit__(self, *_):
        for asker in self.askers:
            asker.is_over.set()
        for asker in self.askers:
            asker.join(2 * PATIENCE_SECONDS)

    @property
    def answered(self):
        return sum(asker.answered for asker in self.askers)

    @property
    def cut(self):
        return sum(asker.cut for asker in self.askers)

    def wait_for(self, more, seconds=PATIENCE_SECONDS):
        """Until each asker has had that many answers more. Fault when one has not."""
        goals = [asker.answered + more for asker in self.askers]
        deadline = time.monotonic() + seconds
        while any(asker.answered < goal for asker, goal in zip(self.askers, goals, strict=True)):
            self.check()
            if time.monotonic() > deadline:
                raise Fault(f"somebody waited for {seconds} s")
            time.sleep(0.01)

    def check(self):
        for asker in self.askers:
            if asker.fault:
                raise Fault(asker.fault)
