"""What a request costs, by shape: instructions, system calls, heap calls, bytes copied, locks, page faults; and what an
idle connection and the hot structures weigh. All of it counted, none of it timed."""

import collections
import contextlib
import pathlib
import resource
import subprocess
import tempfile
import time

from .callgrind import START_SECONDS_MAX, Callgrind
from ..process import LabError
from .strace import Strace
from .tally import Tally, place_of

WARM_ROUNDS = 120
REQUESTS = 480
READINGS = 3
SPREAD_MAX = 0.01
IDLE_FIRST, IDLE_LAST = 128, 640


def rounds_of(shape):
    return max(60, REQUESTS // (shape.depth * shape.connections))


@contextlib.contextmanager
def conversation(shape, server):
    """Warm connections; yields run(rounds), which returns how many requests were answered."""
    with contextlib.ExitStack() as held:
        wires = []
        for _ in range(shape.connections):
            wires.append(shape.open(server.ports[shape.listener], shape.is_secure))
            held.callback(wires[-1].close)

        def run(rounds):
            for _ in range(rounds):
                for wire in wires:
                    wire.send(shape.depth)
                for wire in wires:
                    wire.receive(shape.depth)
            return rounds * shape.depth * len(wires)

        run(WARM_ROUNDS)
        yield run


def listeners_of(shapes):
    return list(dict.fromkeys(shape.listener for shape in shapes))


def count_instructions(subject, shapes, profile=None, spread_max=SPREAD_MAX):
    """{shape: instructions a request}. `profile(shape, functions)` is told where they go."""
    found = {}
    with Callgrind() as callgrind:
        copy = callgrind.copy_of(subject.binary)
        with subject.start(
            listeners_of(shapes), callgrind.prefix, callgrind.environment, START_SECONDS_MAX, copy
        ) as server:
            callgrind.switch_on(server.pid)
            for shape in shapes:
                with conversation(shape, server) as run:
                    readings = []
                    for _ in range(READINGS):
                        callgrind.zero()
                        answered = run(rounds_of(shape))
                        readings.append(callgrind.total() / answered)
                if profile:
                    profile(shape, [(count / answered, name) for count, name in callgrind.functions()])
                found[shape.name] = steady(shape, sorted(readings), spread_max)
    return found


def steady(shape, readings, spread_max=SPREAD_MAX):
    """The least of sorted readings: what disturbs one (a timer, a second that passes) only ever adds."""
    if readings[1] > readings[0] * (1 + spread_max):
        raise LabError(f"{shape.name}: instructions differ from run to run: {', '.join(f'{r:.1f}' for r in readings)}")
    return readings[0]


def count_system_calls(subject, shapes):
    """{shape: {name: calls a request}}"""
    found = {}
    with tempfile.TemporaryDirectory(prefix="violet-bench-strace-") as folder:
        strace = Strace(folder)
        with subject.start(listeners_of(shapes), strace.prefix) as server:
            for shape in shapes:
                with conversation(shape, server) as run:
                    strace.mark()
                    answered = run(rounds_of(shape))
                    calls = strace.calls()
                found[shape.name] = collections.Counter({name: count / answered for name, count in calls.items()})
    return found


def page_faults(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[7])


def count_memory_work(subject, build, shapes, profile=None):
    """{shape: {column: a request}}. `profile(shape, [(bytes a request, place)])` is told who copies."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="violet-bench-tally-") as folder:
        tally = Tally(build, folder)
        with subject.start(listeners_of(shapes), environment=tally.environment) as server:
            tally.prove(server.pid)
            for shape in shapes:
                with conversation(shape, server) as run:
                    sites = tally.sites()
                    before, faults = tally.read(), page_faults(server.pid)
                    answered = run(rounds_of(shape))
                    after, faults = tally.read(), page_faults(server.pid) - faults
                    copies = {at: size - sites.get(at, 0) for at, size in tally.sites().items()}
                found[shape.name] = {
                    "allocations": (after.allocations - before.allocations) / answered,
                    "copied_bytes": (after.copied_bytes - before.copied_bytes) / answered,
                    "locks": (after.locks - before.locks) / answered,
                    "page_faults": faults / answered,
                }
                if profile:
                    most = sorted(((size / answered, at) for at, size in copies.items() if size), reverse=True)[:12]
                    profile(shape, [(size, place_of(server.pid, at)) for size, at in most])
    return found


def measure_shapes(subject, build, shapes, profile_functions=None, profile_copies=None):
    """{shape: {column: value}}"""
    instructions = count_instructions(subject, shapes, profile_functions)
    calls = count_system_calls(subject, shapes)
    work = count_memory_work(subject, build, shapes, profile_copies)
    return {
        shape.name: {
            "instructions": instructions[shape.name],
            "system_calls": sum(calls[shape.name].values()),
            **work[shape.name],
        }
        for shape in shapes
    }


# --- at rest


def raise_descriptors():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


REST_SECONDS = 2.5  # an idle connection of HTTP/2 gives memory back after two


def settled(tally):
    """Live heap bytes once they have stood still for longer than connections take to come to rest."""
    last, since = tally.read().live_bytes, time.monotonic()
    deadline = since + 20
    while time.monotonic() < deadline and time.monotonic() - since < REST_SECONDS:
        time.sleep(0.02)
        now = tally.read().live_bytes
        if now != last:
            last, since = now, time.monotonic()
    return last


def weigh_idle(subject, build, shapes):
    """{shape: heap bytes of an idle connection}, each of which has been served once."""
    raise_descriptors()
    found = {}
    with tempfile.TemporaryDirectory(prefix="violet-bench-idle-") as folder:
        tally = Tally(build, folder)
        for shape in shapes:
            # A server for each: what pools keep from one wire must not pay for the next.
            with subject.start([shape.listener], environment=tally.environment) as server, contextlib.ExitStack() as held:
                tally.prove(server.pid)
                points = []
                for more in (IDLE_FIRST, IDLE_LAST - IDLE_FIRST):
                    hold(shape, server, held, more)
                    points.append(settled(tally))
                found[shape.name] = (points[1] - points[0]) / (IDLE_LAST - IDLE_FIRST)
    return found


def hold(shape, server, held, count):
    for _ in range(count):
        wire = shape.open(server.ports[shape.listener], shape.is_secure)
        held.callback(wire.close)
        wire.send(1)
        wire.receive(1)


def structure_sizes(build):
    """{structure: bytes}, as the program says that was compiled for it."""
    command = [str(pathlib.Path(build, "structure_sizes"))]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout
    return {name: int(size) for size, name in (line.split(maxsplit=1) for line in text.splitlines())}
