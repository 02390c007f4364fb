"""The stand-in's /ws: a WebSocket echo that is right unless it is given a fault."""

import base64
import hashlib
import struct

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
FAULTS = {
    "ws_page": "answers GET /ws with a page",
    "ws_accept": "knows one accept value",
    "ws_text": "echoes text in capitals",
    "ws_binary": "echoes binary as text",
    "ws_reversed": "echoes a burst backwards",
    "ws_first_only": "echoes one frame a read",
    "ws_needs_whole_frame": "takes a frame in one piece only",
    "ws_no_close": "does not end after a Close",
    "ws_nine_messages": "closes after nine messages",
}


def frame(first, payload):
    size = len(payload)
    return bytes([first]) + (bytes([size]) if size < 126 else struct.pack(">BH", 126, size)) + payload


def take_frame(buffered):
    """(first byte, payload), or None when it is not all there."""
    if len(buffered) < 6:
        return None
    size, at = buffered[1] & 0x7F, 2
    if size == 126:
        (size,) = struct.unpack(">H", buffered[2:4])
        at = 4
    if len(buffered) < at + 4 + size:
        return None
    key = buffered[at : at + 4]
    payload = bytes(byte ^ key[i % 4] for i, byte in enumerate(buffered[at + 4 : at + 4 + size]))
    first = buffered[0]
    del buffered[: at + 4 + size]
    return first, payload


def accept(fault, request):
    key = request.fields.get("sec-websocket-key", "").encode()
    value = base64.b64encode(hashlib.sha1((b"" if fault == "ws_accept" else key) + GUID).digest())
    return (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
            value + b"\r\n\r\n")  # fmt: skip


async def serve(fault, request, reader, writer, buffered):
    """Until the peer or a fault ends it."""
    writer.write(accept(fault, request))
    count = 0
    while True:
        answers = []
        while (found := take_frame(buffered)) is not None:
            first, payload = found
            if first == 0x88:
                if fault == "ws_no_close":
                    continue
                writer.write(b"".join(answers) + frame(0x88, payload))
                return
            if first == 0x81 and fault == "ws_text":
                payload = payload.upper()
            answers.append(frame(0x81 if fault == "ws_binary" else first, payload))
            count += 1
        if fault == "ws_reversed":
            answers.reverse()
        if fault == "ws_first_only":
            answers = answers[:1]
        if buffered and fault == "ws_needs_whole_frame":
            return
        writer.write(b"".join(answers))
        if count >= 9 and fault == "ws_nine_messages":
            return
        data = await reader.read(1 << 17)
        if not data:
            return
        buffered += data
