"""One reading of `violet load` against a server that is started for it alone."""

import json
import statistics

from .process import LabError, cores, run_on

WARM_SECONDS = 0.5


def reading(arm, program, shape, connections, depth, seconds):
    """What `violet load --json` says; the server's own processor time is in it."""
    server_core, load_core = cores()
    with arm.start(server_core) as server:
        command = [str(program), "load", "-q", "-c", str(connections), "-p", str(depth), "-d", str(seconds)]
        command += ["-w", str(WARM_SECONDS), "--verify", "--server-pid", str(server.pid), "--json", "-"]
        answer = run_on(load_core, [*command, server.url(arm.target(shape))], seconds + 60)
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
