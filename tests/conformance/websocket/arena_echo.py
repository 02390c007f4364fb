"""The benchmark entry as an echo on one listener, plain or over TLS with a certificate made on the spot."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from server_process import ServerProcess  # noqa: E402

LISTENING = re.compile(rb"^listening https?://127\.0\.0\.1:(\d+)$", re.MULTILINE)


def make_certificate(folder):
    files = ["-keyout", f"{folder}/server.key", "-out", f"{folder}/server.crt"]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run(["openssl", "req", *kind, *files], check=True, capture_output=True, timeout=60)


def serve(arena, listener, certificates="/nowhere", loops=1):
    """`listener`: "h1" or "h1-tls"; the port is found[1] of what this gives."""
    others = [word for name in ("h1", "h1-tls", "h2c", "h2", "h3", "tls-check") if name != listener for word in (f"--{name}", "off")]
    command = [arena, f"--{listener}", "127.0.0.1:0", "--certs", str(certificates), "--loops", str(loops), *others]
    return ServerProcess(command, LISTENING)
