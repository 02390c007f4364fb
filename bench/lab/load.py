"""One reading of `violet load` against a server that is started for it alone."""

import dataclasses
import json
import statistics

from .process import LabError, cores, run_on

WARM_SECONDS = 0.5


@dataclasses.dataclass(frozen=True)
class Leg:
    """What is asked: a shape of request, by how many connections, with how many requests in flight on each."""

    title: str
    shape: str
    connections: int
    depth: int = 1
    wire: str = "h1"  # h1, h1_tls, h2c, h2


def reading(arm, program, leg, seconds, asks_first=False):
    """What `violet load --json` says; the server's own processor time is in it. `asks_first`: one request before all
    others, for what a server reads from the disk but once."""
    server_core, load_core = cores()
    with arm.start(server_core) as server:
        if asks_first:
            run_on(load_core, [str(program), "load", "-q", "-c", "1", "-n", "1", server.url(arm.target(leg.shape))], 60)
        command = [str(program), "load", "-q", "-c", str(leg.connections), "-p", str(leg.depth), "-d", str(seconds), "-k"]
        command += ["-w", str(WARM_SECONDS), "--verify", "--server-pid", str(server.pid), "--json", "-"]
        command += ["--h2"] if leg.wire in ("h2c", "h2") else []
        command += ["-b", "hello"] if leg.shape == "echo" else []
        url = server.url(arm.target(leg.shape), "ws" if leg.shape == "echo" else leg.wire)
        answer = run_on(load_core, [*command, url], seconds + 60)
    found = json.loads(answer)
    if found["answers"] == 0 or "server" not in found:
        raise LabError(f"{arm.name}: nothing was answered: {answer[:200]}")
    return found


def there_and_back(names, rounds):
    """The order of readings, A B C C B A, as often as there are rounds."""
    for half in range(2 * rounds):
        yield from names if half % 2 == 0 else reversed(names)


def spread(values):
    return max(values) - min(values)


def difference(base, head):
    """(median of the paired differences, whether it exceeds both spreads)"""
    pairs = [mine - other for other, mine in zip(base, head, strict=True)]
    median = statistics.median(pairs)
    return median, abs(median) > max(spread(base), spread(head))
