#!/usr/bin/env python3
"""Whether a server speaks HTTP/2 as RFC 9113 says: hostile frames, the clients that people use, and h2spec.

    run.py ARENA                    starts the benchmark entry on free ports and asks all of it, cleartext and TLS
    run.py ARENA --only H2-D04      some cases, by the beginning of their names
    run.py ARENA --h2spec PATH      h2spec in its strict mode, instead of the cases
    run.py --self-test              each case fails on one of two servers that are wrong on purpose

A client that is not on this machine is named and makes the status 77, unless something has failed: 1.
"""

import argparse
import asyncio
import logging
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "support")]

import cases_flow  # noqa: E402,F401 they register their cases
import cases_frames  # noqa: E402,F401
import cases_messages  # noqa: E402,F401
import clients  # noqa: E402
import peer  # noqa: E402
from arena import certificates, h2  # noqa: E402
from peer import Failure, Target, require  # noqa: E402
from registry import CASES  # noqa: E402
from server_process import ServerProcess  # noqa: E402
from stand_in import Lax, Touchy  # noqa: E402

CASE_SECONDS_MAX = 60
AT_ONCE = 16
SKIPPED = 77
LISTENING = re.compile(
    rb"^listening http://127\.0\.0\.1:(\d+)\nlistening http://127\.0\.0\.1:(\d+)\nlistening https://127\.0\.0\.1:(\d+)$",
    re.MULTILINE,
)


async def failure_of(case, target):
    """None when it passes."""
    try:
        await asyncio.wait_for(case.run(target), CASE_SECONDS_MAX)
    except Failure as failure:
        return str(failure)
    except TimeoutError:
        return f"not done within {CASE_SECONDS_MAX} s"
    except Exception as error:  # the server sent what the case did not expect to be able to read
        return f"{type(error).__name__}: {error}"
    return None


async def run_cases(cases, target):
    """[(case, failure or None)]: some at once, and then those that measure the server one by one."""
    results = await run_some(cases=[case for case in cases if not case.needs_pid], target=target, at_once=AT_ONCE)
    return results + await run_some(cases=[case for case in cases if case.needs_pid], target=target, at_once=1)


async def run_some(cases, target, at_once):
    room = asyncio.Semaphore(at_once)

    async def run(case):
        async with room:
            return case, await failure_of(case, target)

    return await asyncio.gather(*map(run, cases))


def report(results, where):
    failed = 0
    for case, failure in results:
        if failure is not None:
            failed += 1
            print(f"FAIL  {where:<6} {case.name:<28} {case.title}: {failure}")
    print(f"{where}: {len(results) - failed} of {len(results)} cases passed", flush=True)
    return failed


def run_clients(only, target, where):
    failed = missing = 0
    for name, run in clients.CLIENTS.items():
        if only and not any(name.startswith(word) for word in only):
            continue
        # Only the port of both can be upgraded.
        if name.endswith(".upgrade") and where != "shared":
            continue
        try:
            run(target)
            print(f"ok    {where:<6} {name}")
        except clients.Missing as error:
            missing += 1
            print(f"SKIP  {where:<6} {name}: {error} is not installed")
        except (Failure, subprocess.TimeoutExpired, TimeoutError) as failure:
            failed += 1
            print(f"FAIL  {where:<6} {name}: {failure}")
    return failed, missing


async def drain(server, target):
    """H2-D18: five streams are under way when SIGTERM comes: all are answered, a sixth is refused (RFC 9113 §6.8)."""
    client = await target.open()
    for stream in range(1, 11, 2):
        client.send(h2.request(stream, "GET", "/delay/800"))
    client.send(h2.frame(h2.PING, 0, 0, b"received"))
    await client.until(lambda got: got.kind == h2.PING)
    server.send_signal(signal.SIGTERM)
    goaways = []
    is_late_sent = False
    while (got := await client.frame()) is not None:
        if got.kind == h2.GOAWAY:
            goaways.append((int.from_bytes(got.payload[:4], "big"), h2.code_of(got)))
        if got.kind == h2.PING and not got.flags & h2.ACK:
            client.send(h2.frame(h2.PING, h2.ACK, 0, got.payload))
        if goaways and goaways[-1][0] < 0x7FFFFFFF and not is_late_sent:
            is_late_sent = True
            client.send(h2.request(101, "GET", "/baseline2?a=1&b=1"))
    require(goaways and all(code == h2.NO_ERROR for _, code in goaways), f"GOAWAYs (last stream, code): {goaways}")
    require(goaways[-1][0] == 9, f"the last GOAWAY names stream {goaways[-1][0]}, not 9")
    for stream in range(1, 11, 2):
        require(stream in client.ended and client.status(stream) == 200, f"stream {stream} was not answered")
    require(101 not in client.heads, "a stream behind the last GOAWAY was answered")


H2SPEC_TOTAL = re.compile(r"^(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed$", re.MULTILINE)


def run_h2spec(path, where, target):
    """Whether every case of h2spec has passed, and none was left out."""
    command = [path, "-S", "-h", "127.0.0.1", "-p", str(target.port), "-P", "/baseline2?a=1&b=1", "-o", "5"]
    done = subprocess.run([*command, *["-t", "-k"] * target.is_secure], stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    total = H2SPEC_TOTAL.search(done.stdout)
    passed = done.returncode == 0 and total is not None and total[1] == total[2] and int(total[1]) > 0
    print(f"{where}: h2spec {'passed' if passed else 'FAILED'}, status {done.returncode}", flush=True)
    return passed


def is_h2spec_believed(text, status):
    """The same of a program that says this."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "h2spec")
        program.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n", encoding="ascii")
        program.chmod(0o700)
        return run_h2spec(str(program), "self-test", Target(1, False))


def run_all(options):
    cases = [case for case in CASES if not options.only or any(case.name.startswith(word) for word in options.only)]
    with tempfile.TemporaryDirectory() as certs:
        certificates.make(certs)
        command = [options.arena, "--h1", "127.0.0.1:0", "--h1-tls", "off", "--h3", "off", "--h2c", "127.0.0.1:0",
                   "--h2", "127.0.0.1:0", "--loops", "1", "--certs", certs]  # fmt: skip
        with ServerProcess(command, LISTENING) as server:
            targets = {
                where: Target(int(server.found[i]), where == "tls", server.process.pid)
                for i, where in enumerate(("shared", "h2c", "tls"), 1)
            }
            if options.h2spec:
                passed = [run_h2spec(options.h2spec, where, target) for where, target in targets.items()]
                return 0 if all(passed) else 1
            failed = missing = 0
            for where, target in targets.items():
                failed += report(asyncio.run(run_cases(cases, target)), where)
                for count, what in zip(run_clients(options.only, target, where), ("failed", "missing"), strict=True):
                    failed, missing = failed + count * (what == "failed"), missing + count * (what == "missing")
            if not options.only:
                try:
                    asyncio.run(drain(server, targets["h2c"]))
                except Failure as failure:
                    failed += 1
                    print(f"FAIL  H2-D18.drain: {failure}")
                if (status := server.wait()) != 0:
                    failed += 1
                    print(f"FAIL  the server ended with status {status}")
    return 1 if failed else SKIPPED if missing else 0


async def self_test():
    global CASE_SECONDS_MAX
    CASE_SECONDS_MAX = 3
    peer.QUICK_SECONDS = 0.5
    peer.FLOOD_SECONDS = 0.5
    async with Lax() as lax, Touchy() as touchy:
        on_lax = dict(await run_some(CASES, Target(lax.port, False, os.getpid()), len(CASES)))
        on_touchy = dict(await run_some(CASES, Target(touchy.port, False, os.getpid()), len(CASES)))
    blind = [case for case in CASES if on_lax[case] is None and on_touchy[case] is None]
    for case in blind:
        print(f"{case.name} passes on both servers that are wrong")
    names = [case.name for case in CASES]
    twice = sorted({name for name in names if names.count(name) > 1})
    for name in twice:
        print(f"{name} is the name of two cases")
    wrong = [
        text
        for text, status, wanted in (
            ("94 tests, 94 passed, 0 skipped, 0 failed", 0, True),
            ("94 tests, 93 passed, 0 skipped, 1 failed", 1, False),
            ("94 tests, 93 passed, 1 skipped, 0 failed", 0, False),
            ("94 tests, 94 passed, 0 skipped, 0 failed", 1, False),
            ("0 tests, 0 passed, 0 skipped, 0 failed", 0, False),
            ("nothing", 0, False),
        )
        if is_h2spec_believed(text, status) != wanted
    ]
    for text in wrong:
        print(f"h2spec's {text!r} is misunderstood")
    print(f"{len(CASES)} cases, {len(blind)} of which cannot fail")
    return 1 if blind or twice or wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arena", nargs="?", help="the program")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="cases whose names begin so")
    parser.add_argument("--h2spec", metavar="PATH", help="run h2spec instead")
    parser.add_argument("--self-test", action="store_true", help="prove that each case can fail")
    parser.add_argument("--list", action="store_true", help="print the names of all cases")
    options = parser.parse_args()
    # It complains of every write after the server has closed, which is what cases are about.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    if options.list:
        for case in CASES:
            print(f"{case.name:<28} {case.title}")
        return 0
    if options.self_test:
        return asyncio.run(self_test())
    if options.arena is None:
        parser.error("the program is missing")
    return run_all(options)


if __name__ == "__main__":
    sys.exit(main())
