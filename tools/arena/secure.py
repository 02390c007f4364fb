"""Every listener of TLS (json-tls, 8gbit, static-tls, baseline-h2, tls_check): posture and quality, echo, new certificates."""

import asyncio
import hashlib
import pathlib
import ssl
import time

from . import certificates
from .registry import check
from .wire import Failure, request, require

CIPHERS = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
OLD_VERSIONS = (ssl.TLSVersion.SSLv3, ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1)
WEAK_CIPHERS = ("NULL", "aNULL", "EXPORT", "RC4", "DES", "3DES")
GET = request("GET", "/baseline11?a=13&b=42")


def context(protocols=("http/1.1",)):
    """A client that believes anybody: what is served is compared byte by byte."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    if protocols:
        made.set_alpn_protocols(protocols)
    return made


def fingerprint(folder):
    pem = (pathlib.Path(folder) / "server.crt").read_text(encoding="ascii")
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


async def shake(entry, tls, server_name="localhost"):
    """What a handshake has agreed on, as an ssl.SSLObject; None when there is none."""
    try:
        wire = await entry.connect(tls, server_name)
    except Failure:
        return None
    made = wire.writer.get_extra_info("ssl_object")
    wire.close()
    return made


async def served(entry, server_name="localhost"):
    made = await shake(entry, entry.tls, server_name)
    require(made, "no handshake")
    return hashlib.sha256(made.getpeercert(binary_form=True)).hexdigest()


HTTP1 = ("h1_tls", "tls_check")


def each(name, title, fault, listeners=(*HTTP1, "h2")):
    """The same check of several TLS listeners."""

    def register(run):
        for listener in listeners:
            check(f"{listener}.{name}", title, fault, listener)(run)
        return run

    return register


# --- posture


@each("certificate", "the leaf that is served is the mounted one, with and without a server name", "other_certificate")
async def certificate(entry, random):
    for name in ("localhost", None):
        require(await served(entry, name) == fingerprint(entry.certs), f"another certificate (server name {name})")


@each("version", "TLS 1.3 is agreed on, with one of its AEAD ciphers", "no_tls13")
async def version(entry, random):
    made = await shake(entry, entry.tls)
    require(made and made.version() == "TLSv1.3", f"version {made and made.version()}")
    require(made.cipher()[0] in CIPHERS, f"cipher {made.cipher()[0]}")
    return made.cipher()[0]


@each("alpn", "of http/1.1 nothing else is made; h2 is not agreed on", "takes_h2", HTTP1)
async def alpn(entry, random):
    made = await shake(entry, context())
    require(made and made.selected_alpn_protocol() in (None, "http/1.1"), "another protocol than was offered")
    made = await shake(entry, context(("h2",)))
    require(made is None or made.selected_alpn_protocol() is None, "h2 on a listener of HTTP/1.1")


@check("h2.alpn", "h2 is agreed on", "h2_not_agreed_on", "h2")
async def alpn_h2(entry, random):
    made = await shake(entry, entry.tls)
    require(made and made.selected_alpn_protocol() == "h2", f"{made and made.selected_alpn_protocol()!r}")


# --- quality


def weak_context(lowest, highest, ciphers):
    weak = context(())
    weak.minimum_version, weak.maximum_version = lowest, highest
    weak.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    return weak


@each("old_versions", "SSLv3, TLS 1.0 and 1.1 are refused", "takes_tls10")
async def old_versions(entry, random):
    tried = 0
    for old in OLD_VERSIONS:
        try:
            tls = weak_context(old, old, "ALL")
        except (ssl.SSLError, ValueError):
            continue  # the client's own library cannot speak it any more
        tried += 1
        require(await shake(entry, tls) is None, f"{old.name} is spoken")
    require(tried, "this client can try none of them")
    return f"{tried} tried"


@each("weak_ciphers", "TLS 1.2 without encryption, authentication or with broken ciphers is refused", "takes_null")
async def weak_ciphers(entry, random):
    tried = 0
    for weak in WEAK_CIPHERS:
        try:
            tls = weak_context(ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2, weak)
        except ssl.SSLError:
            continue
        tried += 1
        require(await shake(entry, tls) is None, f"{weak} is taken")
    require(tried, "this client can try none of them")
    return f"{tried} tried"


@each("tls12", "TLS 1.2 is spoken, too", "no_tls12")
async def tls12(entry, random):
    tls = context(entry.protocols)
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    require(await shake(entry, tls), "no handshake")


# --- the connection


def is_ended_well(host, port, timeout):
    """Asks for a close and reads to the end with a blocking client, which tells a close_notify from a cut."""
    import socket

    tls = context()
    with socket.create_connection((host, port), timeout) as plain, tls.wrap_socket(
        plain, server_hostname="localhost", suppress_ragged_eofs=False
    ) as secure:
        secure.sendall(request("GET", "/baseline11?a=13&b=42", "Connection: close"))
        answer = b""
        try:
            while data := secure.recv(65536):
                answer += data
        except ssl.SSLEOFError:
            return False
        return answer.endswith(b"55")


@each("close_notify", "the end of a connection is announced by close_notify", "no_close_notify", HTTP1)
async def close_notify(entry, random):
    ended_well = await asyncio.to_thread(is_ended_well, entry.host, entry.port, entry.timeout)
    require(ended_well, "the connection was cut, or its answer was wrong")


@each("baseline", "GET /baseline11 over TLS, kept alive", "sum", HTTP1)
async def baseline(entry, random):
    wire = await entry.connect()
    for _ in range(10):
        await wire.write(GET)
        (await wire.answer()).expect(b"55")
    wire.close()


@check("h1_tls.echo", "POST /echo over TLS: 0 to 102,400 bytes, with a length and chunked", "echo_flips_a_bit", "h1_tls")
async def echo(entry, random):
    for size in (0, 1, 1000, 10_240, 102_400):
        body = random.randbytes(size)
        (await entry.exchange(request("POST", "/echo", body=body))).expect(body)
        if size >= 10_240:
            chunks = [body[i : i + 4096] for i in range(0, size, 4096)]
            (await entry.exchange(request("POST", "/echo", chunks=chunks))).expect(body)


# --- new certificates

SWAP_SECONDS_MAX = 30
REQUESTS = 30
REQUESTS_A_SECOND = 5


@check("tls_check.swap", "30 requests at 5/s across a new pair are all 200, and it is served within 30 s", "ignores_new_pair",
       "tls_check")  # fmt: skip
async def swap(entry, random):
    before = await served(entry)
    interval = 1 / REQUESTS_A_SECOND if not entry.is_hurried else 0.02

    async def one(at):
        await asyncio.sleep(at * interval)
        return (await entry.exchange(GET)).expect(b"55")

    asking = asyncio.gather(*map(one, range(REQUESTS)))
    await asyncio.sleep(3 * interval)
    certificates.make(entry.certs)
    began = time.monotonic()
    while (now := await served(entry)) != fingerprint(entry.certs):
        most = SWAP_SECONDS_MAX if not entry.is_hurried else 2
        require(time.monotonic() - began < most, f"the old certificate is still served after {most} s")
        await asyncio.sleep(0.05)
    seconds = time.monotonic() - began
    await asking
    require(now != before, "the certificate has not changed at all")
    return f"after {seconds:.2f} s"
