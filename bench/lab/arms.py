"""The servers that are compared: violet's entry, the limit servers, and the peers where they are installed."""

import dataclasses
import functools
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from . import peers
from .process import LabError, Server, free_port

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "arena"))
import dataset  # noqa: E402

WIRES = ("h1", "h1_tls", "h2c", "h2")
FILE_TARGETS = {"file16": "/static/16k.bin", "file100": "/static/100k.bin"}

# Shape of a request -> its target. A server without any answers every target alike.
ARENA_TARGETS = {
    "get": "/baseline11?a=13&b=42",
    "post": "/baseline11?a=13&b=42",
    "pipelined": "/pipeline",
    "delay0": "/delay/0",
    "json": "/json/50?m=6",
    "echo": "/ws",
    **FILE_TARGETS,
}
# They answer whatever is asked with the small answer.
LIMIT_TARGETS = dict.fromkeys(("get", "post", "pipelined", "delay0"), "/")


@functools.cache
def certificate():
    """(certificate, key) as PEM, for 127.0.0.1, made once a run."""
    with tempfile.TemporaryDirectory() as folder:
        files = ["-keyout", f"{folder}/key", "-out", f"{folder}/crt"]
        kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost"]
        subprocess.run(["openssl", "req", *kind, *files], check=True, capture_output=True, timeout=60)
        return pathlib.Path(folder, "crt").read_text(), pathlib.Path(folder, "key").read_text()


@functools.cache
def common_files():
    """What every server finds in its folder, the answer to /json/50?m=6 as a file among it."""
    crt, key = certificate()
    items = dataset.items()
    totals = [item | {"total": item["price"] * item["quantity"] * 6} for item in items]
    return {
        "server.crt": crt,
        "server.key": key,
        "both.pem": crt + key,
        "www/index.txt": peers.BODY,
        "www/dataset.json": json.dumps(items),
        "www/json/50": json.dumps({"items": totals, "count": len(totals)}, separators=(",", ":")),
        **{f"www/static/{name}": "x" * size for name, size in peers.FILES.items()},
    }


@dataclasses.dataclass
class Arm:
    name: str
    command: list  # {dir} and {h1}, {h2c}, ..., the ports, are filled in
    files: dict = dataclasses.field(default_factory=dict)  # written into {dir} before it starts
    targets: dict = dataclasses.field(default_factory=dict)
    port: int = None  # of h1. None: {h1}, or what it prints
    is_peer: bool = False
    path: str = "/"
    wires: dict = dataclasses.field(default_factory=lambda: {"h1": "h1"})  # wire -> name of the port that speaks it

    def target(self, shape):
        return self.targets.get(shape, self.path)

    def can(self, shape, wire="h1"):
        return wire in self.wires and (not self.targets or shape in self.targets)

    def start(self, core, prefix=(), environment=None, start_seconds=20):
        """A Server on `core`. `prefix` goes before the command (valgrind)."""
        folder = tempfile.TemporaryDirectory(prefix=f"violet-bench-{self.name}-")
        # Some servers become nobody when root starts them.
        pathlib.Path(folder.name).chmod(0o755)
        texts = "".join([*self.command, *self.files.values()])
        ports = {wire: free_port() for wire in WIRES if f"{{{wire}}}" in texts}

        def fill(text):
            for name, value in {**ports, "dir": folder.name}.items():
                text = text.replace(f"{{{name}}}", str(value))
            return text

        needed = common_files() if "{dir}" in texts else {}
        for name, text in (needed | {name: fill(text) for name, text in self.files.items()}).items():
            path = pathlib.Path(folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        port = ports.get("h1", self.port)
        server = Server(self.name, [*prefix, *map(fill, self.command)], port, core, environment, start_seconds)
        server.folder = folder
        server.ports = {wire: ports.get(name) for wire, name in self.wires.items()}
        return server


ARENA = ["arena", "--loops", "1", "--certs", "{dir}", "--data", "{dir}/www"]
ARENA += [text for wire in WIRES for text in (f"--{wire.replace('_', '-')}", f"127.0.0.1:{{{wire}}}")]


def own_arms(build):
    """(name -> Arm) of what the build has; a notice for each that is missing."""
    wanted = (
        Arm("limit_epoll", ["limit_epoll", "0"], targets=LIMIT_TARGETS),
        Arm("limit_libuv", ["limit_libuv", "0"], targets=LIMIT_TARGETS),
        Arm("arena", ARENA.copy(), targets=ARENA_TARGETS, wires=dict(zip(WIRES, WIRES, strict=True))),
    )
    arms = {}
    for arm in wanted:
        binary = pathlib.Path(build, arm.command[0])
        if binary.exists():
            arm.command[0] = str(binary.resolve())
            arms[arm.name] = arm
        else:
            print(f"notice: {binary} is not built: {arm.name} is left out")
    return arms


# h2o speaks HTTP/2 on the port of HTTP/1.1, caddy and h2o choose by ALPN.
ALL = {wire: wire for wire in WIRES}
SHARED = {"h1": "h1", "h2c": "h1", "h1_tls": "h2", "h2": "h2"}
SMALL = {"get": "/", "pipelined": "/"}
FILE_SERVER = SMALL | FILE_TARGETS
FILE_SERVER_WITH_JSON = FILE_SERVER | {"json": "/json/50"}  # the same bytes, ready made

PEERS = (
    ("nginx", Arm("nginx", ["nginx", "-p", "{dir}", "-e", "{dir}/error", "-c", "{dir}/conf"], {"conf": peers.NGINX}, FILE_SERVER_WITH_JSON, wires=ALL)),
    ("h2o", Arm("h2o", ["h2o", "-c", "{dir}/conf"], {"conf": peers.H2O}, FILE_SERVER, wires=SHARED)),
    ("haproxy", Arm("haproxy", ["haproxy", "-db", "-f", "{dir}/conf"], {"conf": peers.HAPROXY}, SMALL, wires=ALL)),
    ("bun", Arm("bun", ["bun", "{dir}/serve.js"], {"serve.js": peers.BUN}, ARENA_TARGETS, wires={"h1": "h1", "h1_tls": "h1_tls"})),
    ("node", Arm("node", ["node", "{dir}/serve.cjs"], {"serve.cjs": peers.NODE}, SMALL, wires=ALL)),
    ("caddy", Arm("caddy", ["caddy", "run", "--adapter", "caddyfile", "--config", "{dir}/conf"], {"conf": peers.CADDY}, FILE_SERVER, wires=SHARED)),
)


def installed_peers():
    arms = {}
    for program, arm in PEERS:
        if shutil.which(program):
            arm.is_peer = True
            arms[arm.name] = arm
        else:
            print(f"notice: {program} is not installed: that peer is left out")
    return arms


def given_peer(text):
    """NAME=COMMAND|URL: a server that no package has. The URL says where it listens and what is asked of it."""
    name, equals, rest = text.partition("=")
    command, bar, url = rest.rpartition("|")
    match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/\S*)?", url)
    if not (equals and bar and match and command.strip()):
        raise LabError(f"--peer {text!r} is not NAME=COMMAND|http://127.0.0.1:PORT/PATH")
    path = match[2] or "/"
    targets = dict.fromkeys(("get", "pipelined", "echo"), path)
    return Arm(name, shlex.split(command), targets=targets, port=int(match[1]), is_peer=True, path=path)
