"""Servers as child processes: started on one core, proven to own their port, read through /proc, ended by id."""

import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import time

TICK_US = 1e6 / os.sysconf("SC_CLK_TCK")
LISTENING = re.compile(rb"^listening https?://(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)\b", re.MULTILINE)


class LabError(Exception):
    """A measurement could not be made; the text says why."""


def cores():
    """(the server's core, the generator's core), the same one where there is no other."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[1] if len(allowed) > 1 else allowed[0]


def on_core(core, command):
    return ["taskset", "-c", str(core), *command]


def run_on(core, command, timeout, **options):
    """A bounded run on one core; its output as text. A generator says what it saw even when it exits with 1."""
    try:
        done = subprocess.run(on_core(core, command), capture_output=True, text=True, timeout=timeout, check=False, **options)
    except subprocess.TimeoutExpired:
        raise LabError(f"{shlex.join(command)} did not end within {timeout} s") from None
    if done.returncode not in (0, 1):
        raise LabError(f"{shlex.join(command)}: status {done.returncode}: {done.stderr.strip()[-200:]}")
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def owners(port):
    """The processes that listen on a TCP port: a stale server must never be measured by mistake."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = pathlib.Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            if words[3] == "0A" and int(words[1].rsplit(":", 1)[1], 16) == port:
                inodes.add(f"socket:[{words[9]}]")
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            links = [os.readlink(f"/proc/{process}/fd/{name}") for name in os.listdir(f"/proc/{process}/fd")]
        except OSError:
            continue
        if not inodes.isdisjoint(links):
            found.add(int(process))
    return found


class Server:
    """A running server. Use it in a `with`: it is gone afterwards, whatever happened."""

    def __init__(self, name, command, port=None, core=None, environment=None, start_seconds=20):
        self.name = name
        self.command = command
        self.port = port
        self.ports = {}  # of the wires beside h1
        self.start_seconds = start_seconds
        self.folder = None  # a temporary directory that is the server's for as long as it runs
        if port is not None and owners(port):
            raise LabError(f"{name}: port {port} is taken by process {sorted(owners(port))}")
        line = command if core is None else on_core(core, command)
        if shutil.which("setpriv"):
            line = ["setpriv", "--pdeathsig", "KILL", *line]  # gone with us, even when we are killed
        self.process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
        self.pid = self.process.pid
        self.printed = b""

    def __enter__(self):
        try:
            self._wait_until_up()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def _wait_until_up(self):
        deadline = time.monotonic() + self.start_seconds
        while time.monotonic() < deadline:
            self._read_output()
            if self.port is None and (found := LISTENING.search(self.printed)):
                self.port = int(found[1])
            if self.port is not None and owners(self.port) & set(self.tree()):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise LabError(f"{self.name} does not listen: {shlex.join(self.command)}: {self.printed[-300:].decode()!r}")

    def _read_output(self):
        while select.select([self.process.stdout], [], [], 0)[0]:
            data = os.read(self.process.stdout.fileno(), 4096)
            if not data:
                return
            self.printed += data

    def stop(self):
        """SIGTERM to its session, then SIGKILL; the exit status of a server that ended by itself is kept."""
        for wanted in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is not None:
                break
            try:
                os.killpg(self.pid, wanted)
                self.process.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        self.process.stdout.close()
        if self.folder is not None:
            self.folder.cleanup()

    def url(self, target="/", wire="h1"):
        scheme = {"h1": "http", "h2c": "http", "ws": "ws"}.get(wire, "https")
        return f"{scheme}://127.0.0.1:{self.ports.get(wire) or self.port}{target}"

    def tree(self):
        """This process and its descendants."""
        found = [self.pid]
        for pid in found:
            try:
                for task in os.listdir(f"/proc/{pid}/task"):
                    found += map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split())
            except OSError:
                continue
        return found

    def cpu_us(self):
        """(user, system) microseconds so far."""
        user = system = 0
        for pid in self.tree():
            try:
                words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            user += int(words[11])
            system += int(words[12])
        return user * TICK_US, system * TICK_US

    def rss_bytes(self):
        """Exact, unlike VmRSS, which lags by a batch of pages for each core."""
        total = 0
        for pid in self.tree():
            text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += int(re.search(r"^Rss:\s+(\d+)", text, re.MULTILINE)[1]) * 1024
        return total

    def descriptor_count(self):
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.tree())

    def switch_count(self):
        """How often its threads have gone to sleep: an idle process does not."""
        total = 0
        for pid in self.tree():
            for task in os.listdir(f"/proc/{pid}/task"):
                text = pathlib.Path(f"/proc/{pid}/task/{task}/status").read_text()
                total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.MULTILINE)[1])
        return total

    def is_running(self):
        return self.process.poll() is None
