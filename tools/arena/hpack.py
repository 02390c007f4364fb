"""HPACK as far as checking a server needs it (RFC 7541): a whole decoder, and an encoder that writes literals."""

# Of each byte's Huffman code and of EOS; the code is canonical, so its lengths say all of it.
LENGTHS = bytes.fromhex(
    "0d171c1c1c1c1c1c1c181e1c1c1e1c1c1c1c1c1c1c1c1e1c1c1c1c1c1c1c1c1c060a0a0c0d06080b0a0a080b08060606050505060606"
    "0606060607080f060c0a0d06070707070707070707070707070707070707070707070807080d130d0e060f0506050605060606050707"
    "0606060506070605050607070707070f0b0e0d1c14161414161616171617171717171817181816171817171717151617161717181615"
    "1416161717151716161815161717151516151716171714161616171616171a1a1413161716191a1a1a1b1b1a181913151a1b1b1a1b18"
    "15151a1a1c1b1b1b14181415161515171616191918181a171a1b1a1a1b1b1b1b1b1c1b1b1b1b1b1a1e"
)
EOS = 256

# "name" or "name=value", from index 1.
STATIC = """
:authority :method=GET :method=POST :path=/ :path=/index.html :scheme=http :scheme=https :status=200 :status=204
:status=206 :status=304 :status=400 :status=404 :status=500 accept-charset accept-encoding=gzip,_deflate
accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control
content-disposition content-encoding content-language content-length content-location content-range content-type
cookie date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since
last-modified link location max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after
server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate
""".split()


class Broken(Exception):
    """The peer's block is malformed."""


def make_codes():
    codes = {}
    code, size = 0, 0
    for symbol in sorted(range(257), key=lambda each: (LENGTHS[each], each)):
        code <<= LENGTHS[symbol] - size
        size = LENGTHS[symbol]
        codes[size, code] = symbol
        code += 1
    return codes


CODES = make_codes()
TABLE = [tuple(item.replace("_", " ").partition("=")[::2]) for item in STATIC]


def decode_huffman(data):
    text = bytearray()
    code = size = 0
    for byte in data:
        for bit in range(7, -1, -1):
            code = code << 1 | (byte >> bit & 1)
            size += 1
            symbol = CODES.get((size, code))
            if symbol == EOS:
                raise Broken("EOS in a string")
            if symbol is not None:
                text.append(symbol)
                code = size = 0
    if size > 7 or code != (1 << size) - 1:
        raise Broken("padding that is not the beginning of EOS")
    return bytes(text)


class Decoder:
    def __init__(self):
        self.entries = []  # newest first
        self.capacity = 4096

    def decode(self, block):
        """[(name, value)], both as str."""
        lines = []
        at = 0
        while at < len(block):
            first = block[at]
            if first & 0x80:
                index, at = read_integer(block, at, 7)
                lines.append(self._entry(index))
            elif first & 0xE0 == 0x20:
                self.capacity, at = read_integer(block, at, 5)
                self._evict()
            else:
                index, at = read_integer(block, at, 6 if first & 0x40 else 4)
                if index:
                    name = self._entry(index)[0]
                else:
                    name, at = read_string(block, at)
                value, at = read_string(block, at)
                lines.append((name, value))
                if first & 0x40:
                    self.entries.insert(0, (name, value))
                    self._evict()
        return lines

    def _entry(self, index):
        if not 1 <= index <= len(TABLE) + len(self.entries):
            raise Broken(f"index {index}")
        return TABLE[index - 1] if index <= len(TABLE) else self.entries[index - len(TABLE) - 1]

    def _evict(self):
        while sum(32 + len(name) + len(value) for name, value in self.entries) > self.capacity:
            self.entries.pop()


def read_integer(block, at, prefix):
    full = (1 << prefix) - 1
    value = block[at] & full
    at += 1
    if value < full:
        return value, at
    shift = 0
    while True:
        if at == len(block):
            raise Broken("an integer that is cut off")
        value += (block[at] & 0x7F) << shift
        shift += 7
        at += 1
        if block[at - 1] < 0x80:
            return value, at


def read_string(block, at):
    if at == len(block):
        raise Broken("a string that is cut off")
    is_coded = block[at] & 0x80
    size, at = read_integer(block, at, 7)
    data = block[at : at + size]
    if len(data) < size:
        raise Broken("a string that is cut off")
    return (decode_huffman(data) if is_coded else bytes(data)).decode("latin-1"), at + size


def write_integer(first, prefix, value):
    full = (1 << prefix) - 1
    if value < full:
        return bytes([first | value])
    out = bytearray([first | full])
    value -= full
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(lines, kind=0x00):
    """Literals with their names, not coded: 0x00 without indexing, 0x10 never indexed, 0x40 into the table."""
    out = b""
    for name, value in lines:
        for index, text in enumerate((name, value)):
            data = text if isinstance(text, bytes) else text.encode("latin-1")
            out += (bytes([kind]) if index == 0 else b"") + write_integer(0, 7, len(data)) + data
    return out
