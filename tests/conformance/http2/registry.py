"""Cases register themselves: the requirement they are of, what is right, and where they run."""

import typing


class Case(typing.NamedTuple):
    name: str  # "H2-D04.data_too_large"
    title: str
    run: typing.Callable  # async (target)
    needs_pid: bool


CASES = []


def case(name, title, needs_pid=False):
    def register(run):
        CASES.append(Case(name, title, run, needs_pid))
        return run

    return register


def connection_error(name, title, data, *codes):
    """Bytes after the prefaces that end the connection."""

    @case(name, title)
    async def run(target):
        peer = await target.open()
        peer.send(data)
        try:
            await peer.connection_error(*codes)
        finally:
            peer.close()


def stream_error(name, title, data, *codes, stream=1, or_status=0, or_connection=False):
    """Bytes that end one stream; the connection lives on."""

    @case(name, title)
    async def run(target):
        peer = await target.open()
        peer.send(data)
        try:
            await peer.stream_error(stream, *codes, or_status=or_status, or_connection=or_connection)
            if not or_connection:
                await peer.is_alive(stream + 100)
        finally:
            peer.close()


def harmless(name, title, data, stream=101):
    """Bytes that change nothing."""

    @case(name, title)
    async def run(target):
        peer = await target.open()
        peer.send(data)
        try:
            await peer.is_alive(stream)
        finally:
            peer.close()
