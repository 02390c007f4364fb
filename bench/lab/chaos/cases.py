"""The kinds of trouble. Each is a function of a Lab; it raises Fault when the server did what it must not, Absent when
this machine cannot make that trouble, and returns a line about what happened."""

import contextlib
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

from ..process import Server, free_port
from . import client
from .client import Connection, Crowd, Cut, Fault, get, post
from .relay import Relay

OTHERS = ("--h1-tls", "--h2c", "--h2", "--h3", "--tls-check")


class Absent(Exception):
    pass


class Lab:
    def __init__(self, build, scale):
        self.build, self.scale = pathlib.Path(build).resolve(), scale

    def arena(self, *flags, port=0, prefix=(), environment=None):
        command = [*prefix, str(self.build / "arena"), "--loops", "1", "--data", "/nonexistent", *flags]
        for name in OTHERS:
            command += [name, "off"]
        return Server("arena", [*command, "--h1", f"127.0.0.1:{port}"], environment=environment)


def eventually(is_true, what, seconds=30):
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise Fault(what)
        time.sleep(0.02)


@contextlib.contextmanager
def leaving_nothing(server):
    """Descriptors are what they were once the clients are gone."""
    before = server.descriptor_count()
    yield
    eventually(lambda: server.descriptor_count() <= before, "descriptors are left over")


def workers(server):
    return server.tree()[1:]


def killed_workers(lab):
    """kill -9 of one worker after the other, under load."""
    with lab.arena("--processes", "2") as server, Crowd(server.port) as crowd:
        for i in range(3 * lab.scale):
            crowd.wait_for(5)
            victim = workers(server)[i % 2]
            # One that dies at once twice in a row is given a pause, five times the whole is given up.
            os.kill(victim, signal.SIGKILL)
            eventually(lambda: len(workers(server)) == 2 and victim not in workers(server), "it was not replaced")  # noqa: B023
        crowd.wait_for(5)
    crowd.check()
    return f"{crowd.answered} answered rightly, {crowd.cut} cut"


def killed_server(lab):
    """kill -9 of everything, and a new server on the same port; clients wait meanwhile."""
    port = free_port()
    answered = cut = 0
    with lab.arena("--processes", "2", port=port) as server, Crowd(port) as crowd:
        for _ in range(lab.scale):
            crowd.wait_for(5)
            old = workers(server)
            server.process.kill()
            server.process.wait()
            eventually(lambda: not any(map(is_alive, old)), "workers outlive their supervisor")  # noqa: B023
            server.stop()
            server = lab.arena("--processes", "2", port=port)  # noqa: PLW2901
            server.__enter__()
        crowd.wait_for(5)
        answered, cut = crowd.answered, crowd.cut
        crowd.__exit__()
        server.stop()
    crowd.check()
    return f"{answered} answered rightly, {cut} cut"


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def stopped(lab):
    """SIGSTOP for a while, SIGCONT: whoever waited is answered."""
    with lab.arena() as server, leaving_nothing(server), Crowd(server.port) as crowd:
        for _ in range(2 * lab.scale):
            crowd.wait_for(3)
            os.kill(server.pid, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(server.pid, signal.SIGCONT)
        crowd.wait_for(3)
    crowd.check()
    if crowd.cut:
        raise Fault(f"{crowd.cut} connections were cut")
    return f"{crowd.answered} answered rightly"


def clock_jumps(lab):
    """The wall clock goes a year forth and ten back: nothing times out, and Date follows."""
    with tempfile.NamedTemporaryFile() as file:
        jump = lambda seconds: (file.seek(0), file.write(struct.pack("q", seconds)), file.flush())  # noqa: E731
        jump(0)
        environment = {"LD_PRELOAD": str(lab.build / "clock_jump.so"), "CLOCK_JUMP": file.name}
        if not (lab.build / "clock_jump.so").exists():
            raise Absent("clock_jump.so is not built")
        with lab.arena(environment=environment) as server, leaving_nothing(server), Crowd(server.port) as crowd:
            crowd.wait_for(2)
            years = []
            for seconds in (366 * 86400, -3653 * 86400, 0):
                jump(seconds)
                crowd.wait_for(5 * lab.scale)
                years.append(time.gmtime(time.time() + seconds).tm_year)
                eventually(lambda: year_of(server.port) == years[-1], f"Date did not follow to {years[-1]}")  # noqa: B023
        crowd.check()
    if crowd.cut:
        raise Fault(f"{crowd.cut} connections were cut")
    return f"{crowd.answered} answered rightly, in the years {years}"


def year_of(port):
    connection = Connection(port)
    try:
        return int(connection.ask(get("/pipeline"))[1][b"date"].split()[3])
    finally:
        connection.close()


def without_descriptors(lab):
    """More clients than descriptors: those who are in are served, the others when one leaves."""
    limit = 90
    wanted = 150
    with lab.arena(prefix=["prlimit", f"--nofile={limit}:{limit}"]) as server, leaving_nothing(server):
        waiting, served = [Connection(server.port) for _ in range(wanted)], 0
        for connection in waiting:
            connection.socket.sendall(get("/pipeline"))
        # The first ones are answered; each that leaves makes room for the next.
        for connection in waiting:
            connection.more()
            if not connection.data.endswith(b"ok"):
                raise Fault(f"answered {connection.data[:80]!r}")
            served += 1
            connection.close()
        if is_spinning(server):
            raise Fault("it spins")
    return f"{served} of {wanted} served by a process of {limit} descriptors"


def is_spinning(server):
    """A server that nobody asks takes no processor time."""
    before = sum(server.cpu_us())
    time.sleep(0.5)
    return sum(server.cpu_us()) - before > 250_000


def without_memory(lab):
    """An address space that bodies do not fit into: refused or cut, but the small ones are answered rightly."""
    with lab.arena("--processes", "1") as server:
        worker = workers(server)[0]
        used = int(pathlib.Path(f"/proc/{worker}/statm").read_text().split()[0]) * resource.getpagesize()
        resource.prlimit(worker, resource.RLIMIT_AS, (used + (24 << 20), used + (24 << 20)))
        body = os.urandom(14 << 20)
        outcomes = {}
        for _ in range(4 * lab.scale):
            try:
                status, _, got = Connection(server.port).ask(post("/echo", body))
                if status == 200 and got != body:
                    raise Fault("a wrong body")
                outcome = str(status)
            except Cut:
                outcome = "cut"
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        with Crowd(server.port, count=2, seed=7) as crowd:
            crowd.wait_for(10)
        crowd.check()
        if len(workers(server)) != 1:
            raise Fault("no worker is left")
    text = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return f"large bodies: {text}; {crowd.answered} small ones answered rightly"


def without_space(lab):
    """Uploads to a full disk: refused with a status, nothing left there, and the next small one is stored."""
    program = lab.build / "upload"
    if not program.exists():
        raise Absent(f"{program} is not built")
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True, check=False)
        if mounted.returncode != 0:
            raise Absent("no small file system can be mounted here")
        try:
            port = free_port()
            with Server("upload", [str(program), f"http://127.0.0.1:{port}", folder], port) as server, leaving_nothing(server):
                statuses = [upload(port, size) for size in (1000, 4 << 20, 4 << 20, 2000)]
                left = sum(file.stat().st_size for file in pathlib.Path(folder).iterdir())
        finally:
            subprocess.run(["umount", "-l", folder], check=False)
    if statuses[0] != 200 or statuses[3] != 200:
        raise Fault(f"what fits was answered {statuses}")
    if any(200 <= status < 500 for status in statuses[1:3]):
        raise Fault(f"what does not fit was answered {statuses[1:3]}")
    if left > 4000:
        raise Fault(f"{left} bytes are left of what was refused")
    return f"answered {statuses}"


def upload(port, size):
    """The status; 0 when the connection was cut."""
    boundary = b"chaos"
    head = b'--chaos\r\nContent-Disposition: form-data; name="a"; filename="a"\r\nContent-Type: application/octet-stream\r\n\r\n'
    body = head + os.urandom(size) + b"\r\n--" + boundary + b"--\r\n"
    request = b"POST /files HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=chaos\r\n"
    connection = Connection(port)
    try:
        request += b"Content-Length: %d\r\n\r\n" % len(body)
        return connection.ask(request + body)[0]
    except Cut:
        # Refused while it was being sent: the answer may stand before the cut.
        with contextlib.suppress(Cut):
            while b"\r\n\r\n" not in connection.data:
                connection.more()
        return int(connection.data[9:12] or 0)
    finally:
        connection.close()


def bad_network(lab):
    """Delays, pieces torn anywhere, cuts."""
    with lab.arena() as server, leaving_nothing(server):
        relay = Relay(server.port, seed=3)
        relay.start()
        try:
            with Crowd(relay.port, count=8) as crowd:
                crowd.wait_for(15 * lab.scale)
        finally:
            relay.stop()
        crowd.check()
    return f"{crowd.answered} answered rightly through {relay.pieces} pieces, {relay.cuts} cuts"


CASES = (killed_workers, killed_server, stopped, clock_jumps, without_descriptors, without_memory, without_space, bad_network)


def self_test():
    """The clients see what is wrong: a wrong body, a wrong status, silence; and what does not become true is late."""

    def serve(listener, answer):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                peer.recv(65536)
                if answer:
                    peer.sendall(answer)

    client.PATIENCE_SECONDS = 0.5
    wrong = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"
    for answer in (wrong, wrong.replace(b"200", b"500"), b""):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=serve, args=(listener, answer), daemon=True).start()
            with Crowd(listener.getsockname()[1], count=1) as crowd:
                try:
                    crowd.wait_for(1, seconds=5)
                except Fault:
                    continue
                raise AssertionError(f"nothing was wrong with {answer!r}")

    try:
        eventually(lambda: False, "late", seconds=0.05)
    except Fault:
        print("chaos: each check can fail")
        return 0
    raise AssertionError("nothing was late")
