#!/usr/bin/env python3
"""peers.py TLS_EXAMPLE: starts the example of the guide and asks it with curl, openssl s_client and python's ssl.

Passes when each of them is served, comes back by a ticket, is told of the end, when renegotiation leads nowhere, and
when clients' certificates are wanted and known.
"""

import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from server_process import ServerProcess  # noqa: E402

SECONDS_MAX = 20
READY = re.compile(rb"^https://127\.0\.0\.1:(\d+)$", re.MULTILINE)


def fail(message):
    sys.exit(f"peers: {message}")


def expect(what, wanted, text):
    if wanted not in text:
        fail(f"{what}: no {wanted!r} in {text!r}")


def run(*command, stdin=""):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    return done.returncode, done.stdout + done.stderr


def make_certificates(folder):
    """A CA, a certificate of localhost and one of a client, all by the command that users have."""
    ca = ["-x509", "-subj", "/CN=Peers CA", "-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.pem"]
    base = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9"]
    steps = [[*base, *ca]]
    for name, names in (("localhost", "DNS:localhost,IP:127.0.0.1"), ("me", "URI:spiffe://test/me")):
        (pathlib.Path(folder) / f"{name}.ext").write_text(f"subjectAltName={names}\n", encoding="ascii")
        steps.append([*base, "-subj", f"/CN={name}", "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.csr"])
        signed = ["-CA", f"{folder}/ca.pem", "-CAkey", f"{folder}/ca.key", "-CAcreateserial", "-days", "9"]
        files = ["-in", f"{folder}/{name}.csr", "-out", f"{folder}/{name}.pem", "-extfile", f"{folder}/{name}.ext"]
        steps.append(["openssl", "x509", "-req", *signed, *files])
    for step in steps:
        status, text = run(*step)
        if status != 0:
            fail(text)


def check_curl(port, folder):
    url = f"https://localhost:{port}"
    common = ["curl", "-sS", "--max-time", "10", "--cacert", f"{folder}/ca.pem"]
    for version, option in (("TLSv1.3", "--tlsv1.3"), ("TLSv1.2", "--tls-max")):
        more = [option, "1.2"] if option == "--tls-max" else [option]
        expect("curl", f"hello over {version}", run(*common, *more, f"{url}/")[1])
    body = "x" * 500_000
    status, text = run(*common, "--data-binary", "@-", f"{url}/echo", stdin=body)
    if (status, text) != (0, body):
        fail(f"curl: the echo has {len(text)} bytes, status {status}")
    if run(*common, "--tls-max", "1.1", "--ciphers", "ALL:@SECLEVEL=0", f"{url}/")[0] == 0:
        fail("curl: TLS 1.1 is served")
    expect("curl by another name", "subject name", run(*common, "--resolve", f"other:{port}:127.0.0.1", f"https://other:{port}/")[1])


def s_client(port, *options, stdin=""):
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", "localhost", *options]
    return run(*command, stdin=stdin)[1]


def check_openssl(port, folder):
    trusted = ["-CAfile", f"{folder}/ca.pem", "-verify_hostname", "localhost"]
    request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    text = s_client(port, *trusted, "-alpn", "http/1.1", "-ign_eof", stdin=request)
    for wanted in ("Verify return code: 0 (ok)", "ALPN protocol: http/1.1", "hello over TLSv1.3"):
        expect("s_client", wanted, text)
    if "unexpected eof" in text:
        fail("s_client: cut without close_notify")
    expect("s_client with ALPN foo", "alert no application protocol", s_client(port, "-alpn", "foo"))
    expect("s_client with TLS 1.1", "alert", s_client(port, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"))
    expect("s_client coming back", "Reused, TLSv1.2", s_client(port, "-tls1_2", "-reconnect"))
    # "R" asks for a new handshake; "Q" would be the end, had it not come before.
    text = s_client(port, "-tls1_2", "-legacy_renegotiation", stdin="R\n")
    expect("s_client renegotiating", "no renegotiation", text.lower())


def check_python(port, folder):
    context = ssl.create_default_context(cafile=f"{folder}/ca.pem")
    session = None
    for wants_resumption in (False, True):
        with socket.create_connection(("127.0.0.1", port), SECONDS_MAX) as plain:
            secure = context.wrap_socket(plain, server_hostname="localhost", session=session, suppress_ragged_eofs=False)
            secure.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            text = secure.recv(65536).decode()
            expect("python", "hello over TLSv1.3", text)
            if wants_resumption:
                expect("python coming back", "you have been here before", text)
            session = secure.session
            secure.unwrap()  # fails unless the server answers our close_notify by its own


def check_client_certificates(port, folder):
    common = ["curl", "-sS", "--max-time", "10", "--cacert", f"{folder}/ca.pem"]
    mine = ["--cert", f"{folder}/me.pem", "--key", f"{folder}/me.key"]
    text = run(*common, *mine, f"https://localhost:{port}/me")[1]
    expect("curl with a certificate", "you are CN=me\nalso URI:spiffe://test/me", text)
    # The alert may overtake curl's request, which then fails before curl has read why.
    status, text = run(*common, f"https://localhost:{port}/me")
    if status == 0:
        fail(f"curl without a certificate was answered: {text!r}")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        make_certificates(folder)
        pair = [f"{folder}/localhost.pem", f"{folder}/localhost.key"]
        with ServerProcess([program, "0", *pair], READY) as server:
            port = int(server.found[1])
            for check in (check_curl, check_openssl, check_python):
                check(port, folder)
            if server.stop() != 0:
                fail("it did not end well")
        with ServerProcess([program, "0", *pair, f"{folder}/ca.pem"], READY) as server:
            check_client_certificates(int(server.found[1]), folder)
            if server.stop() != 0:
                fail("it did not end well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
