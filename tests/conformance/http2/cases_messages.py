"""Messages: heads, bodies and the table they are coded with (RFC 9113 §5.1, §8; RFC 7541)."""

from arena import h2, hpack

from peer import require
from registry import case, connection_error, harmless, stream_error

BOTH = h2.END_HEADERS | h2.END_STREAM
OPEN = h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.head("POST", "/upload"))
GET = h2.request(1, "GET", "/baseline2?a=1&b=1")
PSEUDO = [(":method", "GET"), (":scheme", "http"), (":path", "/baseline2?a=1&b=1"), (":authority", "localhost")]


def headers(lines, stream=1, flags=BOTH):
    return h2.frame(h2.HEADERS, flags, stream, hpack.encode(lines))


# --- H2-D06: states of a stream (§5.1)

for text, data in (("data", h2.frame(h2.DATA, 0, 7, b"x")), ("window_update", h2.window_update(7, 1)), ("reset", h2.reset(7))):
    connection_error(
        f"H2-D06.{text}_idle", f"{text} on a stream that is idle", data, h2.PROTOCOL_ERROR, h2.STREAM_CLOSED
    )
stream_error(
    "H2-D06.data_after_end",
    "DATA behind the end of a stream",
    GET + h2.frame(h2.DATA, 0, 1, b"x"),
    h2.STREAM_CLOSED,
    or_status=200,
    or_connection=True,
)


@case("H2-D06.half_closed", "DATA and HEADERS behind the end of a stream that is still answered are STREAM_CLOSED")
async def half_closed(target):
    for late in (h2.frame(h2.DATA, 0, 1, b"x"), headers(PSEUDO), h2.frame(h2.DATA, h2.END_STREAM, 1)):
        peer = await target.open()
        peer.send(h2.request(1, "GET", "/delay/2000") + late)
        await peer.stream_error(1, h2.STREAM_CLOSED, or_connection=True)
        peer.close()


@case("H2-D06.after_reset", "HEADERS on a stream that the client has reset")
async def after_reset(target):
    peer = await target.open()
    peer.send(OPEN + h2.reset(1) + headers(PSEUDO))
    await peer.stream_error(1, h2.STREAM_CLOSED, or_connection=True)
    peer.close()


harmless(
    "H2-D06.late",
    "WINDOW_UPDATE, PRIORITY and RST_STREAM on a stream that has ended",
    GET + h2.window_update(1, 1) + h2.frame(h2.PRIORITY, 0, 1, bytes(5)) + h2.reset(1),
)

# --- H2-D12: malformed requests (§8.1.1, §8.2, §8.3)


def malformed(name, title, lines):
    stream_error(f"H2-D12.{name}", f"a request with {title}", headers(lines), h2.PROTOCOL_ERROR, or_status=400)


malformed("upper_case", "a name in upper case", [*PSEUDO, ("X-Name", "v")])
malformed("upper_known", "a known name in upper case", [*PSEUDO, ("Accept", "*/*")])
for name in ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"):
    malformed(name.replace("-", "_"), name, [*PSEUDO, (name, "chunked" if name == "transfer-encoding" else "x")])
malformed("te", "TE other than trailers", [*PSEUDO, ("te", "gzip")])
malformed("te_list", "TE with more than trailers", [*PSEUDO, ("te", "trailers, deflate")])
for missing in (":method", ":scheme", ":path"):
    malformed(f"no_{missing[1:]}", f"no {missing}", [line for line in PSEUDO if line[0] != missing])
for doubled in (":method", ":scheme", ":path", ":authority"):
    malformed(f"two_{doubled[1:]}", f"{doubled} twice", [*PSEUDO, next(line for line in PSEUDO if line[0] == doubled)])
malformed("late", "a pseudo-field behind a field", [*PSEUDO[:3], ("x", "y"), PSEUDO[3]])
malformed("unknown", "an unknown pseudo-field", [*PSEUDO, (":unknown", "v")])
malformed("status", ":status", [*PSEUDO, (":status", "200")])
malformed("empty_path", "an empty :path", [*PSEUDO[:2], (":path", ""), PSEUDO[3]])
malformed("relative_path", "a :path without its slash", [*PSEUDO[:2], (":path", "baseline2"), PSEUDO[3]])
malformed("path_space", "a space in :path", [*PSEUDO[:2], (":path", "/a b"), PSEUDO[3]])
malformed("path_fragment", "a fragment in :path", [*PSEUDO[:2], (":path", "/a#b"), PSEUDO[3]])
malformed("method_space", "a space in :method", [(":method", "GE T"), *PSEUDO[1:]])
malformed("scheme", "a scheme of something else", [PSEUDO[0], (":scheme", "ftp"), *PSEUDO[2:]])
malformed("user_info", "user information in :authority", [*PSEUDO[:3], (":authority", "user@localhost")])
malformed("host_differs", "Host other than :authority", [*PSEUDO, ("host", "elsewhere")])
malformed("empty_name", "an empty name", [*PSEUDO, ("", "v")])
malformed("name_space", "a space in a name", [*PSEUDO, ("x y", "v")])
malformed("name_colon", "a colon in a name", [*PSEUDO, ("x:y", "v")])
for text, value in (("cr", "a\rb"), ("lf", "a\nb"), ("nul", "a\0b"), ("leading_space", " a"), ("trailing_tab", "a\t")):
    malformed(f"value_{text}", f"a value with {text.replace('_', ' ')}", [*PSEUDO, ("x", value)])
malformed("connect_path", "CONNECT with :path", [(":method", "CONNECT"), *PSEUDO[1:]])
malformed("connect_no_authority", "CONNECT without :authority", [(":method", "CONNECT")])
malformed("length_text", "Content-Length that is no number", [*PSEUDO, ("content-length", "1x")])
malformed("length_two", "Content-Length twice", [*PSEUDO, ("content-length", "0"), ("content-length", "0")])
malformed("length_without_body", "Content-Length and no body", [*PSEUDO, ("content-length", "5")])


@case("H2-D12.taken", "TE: trailers, Host as :authority says, split cookies and no :authority are fine")
async def taken(target):
    peer = await target.open()
    for stream, lines in ((1, [*PSEUDO, ("te", "trailers")]), (3, [*PSEUDO, ("host", "localhost")]),
                          (5, [*PSEUDO, ("cookie", "a=b"), ("cookie", "c=d")]), (7, [*PSEUDO[:3], ("host", "localhost")])):  # fmt: skip
        peer.send(headers(lines, stream))
        await peer.answer(stream, body=b"2")
    peer.close()


# --- H2-D13: Content-Length against DATA (§8.1.1)


def length(name, title, said, *pieces, flags=0):
    data = h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.head("POST", "/upload", ("content-length", said)))
    for i, piece in enumerate(pieces):
        data += h2.frame(h2.DATA, h2.END_STREAM if i + 1 == len(pieces) else 0, 1, piece)
    stream_error(f"H2-D13.{name}", title, data, h2.PROTOCOL_ERROR, or_status=400)


length("short", "ten bytes are announced, five come", "10", b"12345")
length("long", "ten bytes are announced, fifteen come", "10", b"12345", b"1234567890")
length("empty", "ten bytes are announced, none comes", "10", b"")

# --- trailers (§8.1)

for text, lines in (("pseudo", [(":path", "/")]), ("upper_case", [("X-Trailer", "v")]), ("connection", [("connection", "close")])):
    stream_error(
        f"H2-trailers.{text}",
        f"trailers with {text.replace('_', ' ')}",
        OPEN + h2.frame(h2.DATA, 0, 1, b"x") + headers(lines),
        h2.PROTOCOL_ERROR,
        or_status=400,
    )
stream_error(
    "H2-trailers.no_end",
    "trailers that do not end the stream",
    OPEN + headers([("x", "y")], flags=h2.END_HEADERS),
    h2.PROTOCOL_ERROR,
    or_status=400,
)


@case("H2-trailers.taken", "trailers end a request")
async def trailers_taken(target):
    peer = await target.open()
    peer.send(OPEN + h2.frame(h2.DATA, 0, 1, b"12345") + headers([("x-checksum", "1")]))
    await peer.answer(1, body=b"5")
    peer.close()


# --- H2-D16, D17: HPACK (§4.3; RFC 7541)

HEAD = hpack.encode(PSEUDO)
for text, block, title in (
    ("index_0", HEAD + b"\x80", "index 0"),
    ("index_beyond", HEAD + b"\xfe", "an index beyond the tables"),
    ("update_large", b"\x3f\xe2\x1f" + HEAD, "a size update above the setting"),
    ("update_late", HEAD + b"\x20", "a size update behind a field"),
    ("update_three", b"\x20\x20\x20" + HEAD, "three size updates"),
    ("padding", HEAD + b"\x00\x81\xff\x01a", "Huffman padding of eight bits"),
    ("padding_zeros", HEAD + b"\x00\x01a\x81\x06", "Huffman padding of zeros"),
    ("eos", HEAD + b"\x00\x01a\x84\xff\xff\xff\xff", "EOS in a string"),
    ("cut_off", HEAD + b"\x00\x05a", "a string that is cut off"),
    ("integer", HEAD + b"\xff\xff\xff\xff\xff\xff\xff\xff\xff", "an integer without end"),
):
    connection_error(f"H2-D16.{text}", title, h2.frame(h2.HEADERS, BOTH, 1, block), h2.COMPRESSION_ERROR)


@case("H2-D17.in_step", "heads of streams that are refused or reset count for the table")
async def in_step(target):
    peer = await target.open()
    first = hpack.encode(PSEUDO) + hpack.encode([("X-Bad", "v"), ("content-length", "nonsense")], 0x40)
    peer.send(h2.frame(h2.HEADERS, BOTH, 1, first))
    await peer.stream_error(1, h2.PROTOCOL_ERROR, or_status=400)
    # A stream that the client itself gives up.
    peer.send(
        h2.frame(h2.HEADERS, h2.END_HEADERS, 3, hpack.encode([(":method", "POST"), *PSEUDO[1:]], 0x40)) + h2.reset(3)
    )
    peer.send(h2.frame(h2.HEADERS, BOTH, 5, hpack.encode(PSEUDO[:2]) + hpack.encode(PSEUDO[2:], 0x40)))
    await peer.answer(5, body=b"2")
    peer.send(h2.frame(h2.HEADERS, BOTH, 7, hpack.encode(PSEUDO[:2]) + b"\xbf\xbe"))
    await peer.answer(7, body=b"2")
    peer.close()
