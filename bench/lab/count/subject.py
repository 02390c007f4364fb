"""The server whose costs are counted: the arena entry, or what stands in for it in the tests of the counters."""

import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import time

from ..process import LabError, Server, cores, free_port, owners

ROOT = pathlib.Path(__file__).resolve().parents[3]
LISTENERS = ("--h1", "--h1-tls", "--h2c", "--h2", "--h3", "--tls-check")


@dataclasses.dataclass(frozen=True)
class Subject:
    binary: pathlib.Path
    is_arena: bool = True
    is_limit: bool = False  # a limit server, whose one argument is a port
    flags: tuple = ()

    def known_listeners(self):
        """An entry of an earlier commit has fewer."""
        usage = subprocess.run([self.binary, "--help"], capture_output=True, text=True, timeout=20, check=True).stdout
        return [listener for listener in LISTENERS if f" {listener} " in usage]

    def start(self, listeners, prefix=(), environment=None, start_seconds=20, binary=None):
        """A Server with `listeners` open; its `ports` says where. It has one loop, on the first core."""
        ports = {listener: free_port() for listener in listeners}
        places = [text for listener, port in ports.items() for text in (listener, f"127.0.0.1:{port}")]
        folder = tempfile.TemporaryDirectory(prefix="violet-bench-subject-")
        if self.is_limit:
            places = [str(next(iter(ports.values())))]
        elif self.is_arena:
            places += [text for listener in self.known_listeners() if listener not in ports for text in (listener, "off")]
            places += ["--loops", "1", "--certs", folder.name, "--data", folder.name]
            fill(pathlib.Path(folder.name), listeners)
        command = [*prefix, str(binary or self.binary), *places, *self.flags]
        server = MultiServer(self.binary.name, command, ports, environment, start_seconds)
        server.folder = folder
        return server


class MultiServer(Server):
    def __init__(self, name, command, ports, environment, start_seconds):
        super().__init__(name, command, next(iter(ports.values())), cores()[0], environment, start_seconds)
        self.ports = ports

    def __enter__(self):
        super().__enter__()
        deadline = time.monotonic() + self.start_seconds
        for listener, port in self.ports.items():
            # They open one after the other.
            while not owners(port) & set(self.tree()):
                if time.monotonic() > deadline or not self.is_running():
                    self.stop()
                    raise LabError(f"{self.name} does not open {listener}: {self.printed[-300:].decode(errors='replace')!r}")
                time.sleep(0.02)
        return self

    def server_pid(self):
        """Of the server itself, where something like strace stands before it."""
        return max(owners(self.port) & set(self.tree()))


def fill(folder, listeners):
    """What the entry reads: a certificate where something is secure, files of known sizes, and the data set."""
    static = folder / "static"
    static.mkdir()
    (static / "16k.bin").write_bytes(bytes(range(256)) * 64)
    (static / "small.txt").write_bytes(b"Hello, World!\n")
    data_set = [sys.executable, str(ROOT / "tools/arena/dataset.py"), str(folder / "dataset.json")]
    subprocess.run(data_set, check=True, capture_output=True, timeout=60)
    if "--h1-tls" in listeners or "--h2" in listeners:
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-keyout", f"{folder}/server.key", "-out", f"{folder}/server.crt", "-days", "2", "-subj", "/CN=localhost"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
