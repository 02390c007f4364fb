"""The servers that are compared: violet's entry, the limit servers, and the peers where they are installed."""

import dataclasses
import pathlib
import re
import shlex
import shutil
import tempfile

from .process import LabError, Server, free_port

BODY = "Hello, World!"

# Shape of a request -> its target. Those that serve one thing only answer every target alike.
ARENA_TARGETS = {
    "get": "/baseline11?a=13&b=42",
    "post": "/baseline11?a=13&b=42",
    "pipelined": "/pipeline",
    "delay0": "/delay/0",
}


@dataclasses.dataclass
class Arm:
    name: str
    command: list  # {port} and {dir} are filled in
    files: dict = dataclasses.field(default_factory=dict)  # written into {dir} before it starts
    targets: dict = dataclasses.field(default_factory=dict)
    port: int = None  # None: {port}, or what it prints
    is_peer: bool = False
    path: str = "/"

    def target(self, shape):
        return self.targets.get(shape, self.path)

    def can(self, shape):
        return not self.targets or shape in self.targets

    def start(self, core, prefix=(), environment=None, start_seconds=20):
        """A Server on `core`. `prefix` goes before the command (valgrind)."""
        folder = tempfile.TemporaryDirectory(prefix=f"violet-bench-{self.name}-")
        # Some servers become nobody when root starts them.
        pathlib.Path(folder.name).chmod(0o755)
        port = self.port
        if port is None and any("{port}" in text for text in [*self.command, *self.files.values()]):
            port = free_port()
        fill = lambda text: text.replace("{port}", str(port)).replace("{dir}", folder.name)  # noqa: E731
        for name, text in self.files.items():
            path = pathlib.Path(folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fill(text))
        server = Server(self.name, [*prefix, *map(fill, self.command)], port, core, environment, start_seconds)
        server.folder = folder
        return server


def own_arms(build):
    """(name -> Arm) of what the build has; a notice for each that is missing."""
    wanted = (
        Arm("limit_epoll", ["limit_epoll", "0"]),
        Arm("limit_libuv", ["limit_libuv", "0"]),
        Arm("arena", ["arena", "--h1", "127.0.0.1:0", "--loops", "1", "--certs", "{dir}"], targets=ARENA_TARGETS),
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


NGINX = """daemon off; master_process off; worker_processes 1; pid {dir}/pid; error_log {dir}/error;
events { worker_connections 19900; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; client_body_temp_path {dir}/body;
  proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi; uwsgi_temp_path {dir}/uwsgi; scgi_temp_path {dir}/scgi;
  server { listen 127.0.0.1:{port} backlog=4096; location / { default_type text/plain; return 200 'Hello, World!'; } }
}
"""
H2O = """num-threads: 1
listen: { host: 127.0.0.1, port: {port} }
http1-request-timeout: 600
hosts: { default: { paths: { /: { file.dir: {dir}/www, file.index: [index.txt] } } } }
"""
HAPROXY = """global
  nbthread 1
  maxconn 9000
defaults
  mode http
  timeout client 600s
  timeout connect 5s
  timeout server 600s
frontend hello
  bind 127.0.0.1:{port} backlog 4096
  http-request return status 200 content-type text/plain string "Hello, World!"
"""
NODE = """require('http').createServer((request, response) => {
  response.writeHead(200, {'Content-Type': 'text/plain', 'Content-Length': 13}); response.end('Hello, World!');
}).listen({port}, '127.0.0.1', 4096);
"""
BUN = """Bun.serve({ port: {port}, hostname: '127.0.0.1', idleTimeout: 0,
  fetch() { return new Response('Hello, World!', { headers: { 'Content-Type': 'text/plain' } }); } });
"""
CADDY = """{
  admin off
  auto_https off
}
http://127.0.0.1:{port} {
  respond "Hello, World!"
}
"""

PEERS = (
    ("nginx", Arm("nginx", ["nginx", "-p", "{dir}", "-e", "{dir}/error", "-c", "{dir}/conf"], {"conf": NGINX})),
    ("h2o", Arm("h2o", ["h2o", "-c", "{dir}/conf"], {"conf": H2O, "www/index.txt": BODY})),
    ("haproxy", Arm("haproxy", ["haproxy", "-db", "-f", "{dir}/conf"], {"conf": HAPROXY})),
    ("bun", Arm("bun", ["bun", "{dir}/serve.js"], {"serve.js": BUN})),
    ("node", Arm("node", ["node", "{dir}/serve.cjs"], {"serve.cjs": NODE})),
    ("caddy", Arm("caddy", ["caddy", "run", "--adapter", "caddyfile", "--config", "{dir}/conf"], {"conf": CADDY})),
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
    return Arm(name, shlex.split(command), port=int(match[1]), is_peer=True, path=match[2] or "/")
