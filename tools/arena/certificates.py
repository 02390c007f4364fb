"""Certificates as the platform mounts them: a folder with server.crt and server.key, self-signed RSA-2048."""

import pathlib
import subprocess
import tempfile


def make(folder):
    """A new pair in `folder`, put in place the way a deployment does it: each file by a rename, the certificate first."""
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        command = "openssl req -x509 -newkey rsa:2048 -nodes -sha256 -days 3650 -subj /CN=localhost"
        names = ["-keyout", f"{work}/server.key", "-out", f"{work}/server.crt"]
        subprocess.run([*command.split(), *names], check=True, capture_output=True, timeout=60)
        for name in ("server.crt", "server.key"):
            (pathlib.Path(work) / name).rename(folder / name)
