"""A crowd of idle connections: servers and clients in as many processes as descriptors ask for, and what they weigh."""

import pathlib
import re
import resource
import subprocess
import tempfile
import time

from .process import LabError, Server

KINDS = {
    # kind -> (listener of the entry, target, user memory a connection must stay within)
    "h1": ("--h1", "/pipeline", 512),
    "tls": ("--h1-tls", "/pipeline", 12288),
    "h2": ("--h2c", "/pipeline", 2048),
    "ws": ("--h1", "/ws", 768),
}
LISTENERS = ("--h1", "--h1-tls", "--h2c", "--h2", "--h3", "--tls-check")
# SO_REUSEPORT spreads by a hash, so that the fullest process has some more than its share: six standard deviations.
SPARE_DESCRIPTORS = 1200
ADDRESSES_EACH = 2


def capacity():
    """Connections that one process is planned to hold."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 1 << 20 if hard == resource.RLIM_INFINITY else max(soft, hard)
    if most <= 2 * SPARE_DESCRIPTORS:
        raise LabError(f"only {most} descriptors for a process")
    return min(most - SPARE_DESCRIPTORS, 60000)


def make_certificate(folder):
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=localhost", "-keyout", f"{folder}/server.key", "-out", f"{folder}/server.crt"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


class Crowd:
    """The entry with `processes` workers, and as many holders, each with addresses of its own."""

    def __init__(self, build, kind, processes, idle_seconds, pause):
        listener, self.target, _ = KINDS[kind]
        self.build, self.kind, self.holders, self.pause = build, kind, [], pause
        self.folder = tempfile.TemporaryDirectory(prefix="violet-crowd-")
        if kind == "tls":
            make_certificate(self.folder.name)
        command = [f"{build}/arena", "--loops", "1", "--processes", str(processes), "--idle", str(idle_seconds)]
        command += ["--certs", self.folder.name, "--data", self.folder.name]
        for name in LISTENERS:
            command += [name, "127.0.0.1:0" if name == listener else "off"]
        self.server = Server("arena", command, start_seconds=60)
        self.count = processes

    def __enter__(self):
        self.server.__enter__()
        try:
            for i in range(self.count):
                source = str(i * ADDRESSES_EACH)
                command = [f"{self.build}/hold_load", "-k", self.kind, "-s", source, "-a", str(ADDRESSES_EACH)]
                pipe = subprocess.PIPE
                self.holders.append(
                    subprocess.Popen([*command, self.server.url(self.target)], stdin=pipe, stdout=pipe, text=True)
                )
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for holder in self.holders:
            holder.stdin.close()
        for holder in self.holders:
            try:
                holder.wait(60)
            except subprocess.TimeoutExpired:
                holder.kill()
                holder.wait()
            holder.stdout.close()
        self.server.stop()
        self.folder.cleanup()

    def order(self, texts):
        """One order for each holder, all at work at once; (held or answered, failed) of all."""
        for holder, text in zip(self.holders, texts, strict=True):
            holder.stdin.write(text + "\n")
            holder.stdin.flush()
        done = failed = 0
        for holder in self.holders:
            words = holder.stdout.readline().split()
            if len(words) != 4:
                raise LabError(f"hold_load answered {words}")
            done += int(words[1])
            failed += int(words[3])
        return done, failed

    def open(self, total):
        share = [total * i // self.count for i in range(self.count + 1)]
        held, failed = self.order([f"open {after - before}" for before, after in zip(share, share[1:], strict=False)])
        if held != total:
            raise LabError(f"only {held:,} of {total:,} connections are held, {failed} failed")
        return failed

    def ask(self):
        return self.order(["ask"] * self.count)

    def close(self):
        self.order(["close"] * self.count)

    def workers(self):
        """By id: the first process serves nothing, but its memory counts as well."""
        return self.server.tree()

    def memory(self):
        """(resident, proportional) bytes of the server's processes."""
        rss = pss = 0
        for pid in self.workers():
            text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
            rss += int(re.search(r"^Rss:\s+(\d+)", text, re.MULTILINE)[1]) * 1024
            pss += int(re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)[1]) * 1024
        return rss, pss

    def settled(self):
        """The same once it stands still."""
        last, deadline = self.memory(), time.monotonic() + 10
        while time.monotonic() < deadline:
            time.sleep(self.pause)
            now = self.memory()
            if now == last:
                break
            last = now
        return last

    def descriptors_left(self, base):
        deadline = time.monotonic() + 60
        while self.server.descriptor_count() > base and time.monotonic() < deadline:
            time.sleep(0.2)
        return self.server.descriptor_count() - base


# --- the kernel's memory, which both ends of all connections share


def kernel():
    """{"sockets", "tcp_bytes", "slab_bytes"} of the whole machine."""
    sockstat = pathlib.Path("/proc/net/sockstat").read_text()
    meminfo = pathlib.Path("/proc/meminfo").read_text()
    return {
        "sockets": int(re.search(r"^sockets: used (\d+)", sockstat, re.MULTILINE)[1]),
        "tcp_bytes": int(re.search(r"^TCP:.* mem (\d+)", sockstat, re.MULTILINE)[1]) * resource.getpagesize(),
        "slab_bytes": int(re.search(r"^Slab:\s+(\d+)", meminfo, re.MULTILINE)[1]) * 1024,
    }


def slabs():
    """{cache: bytes}; {} where that is for root only."""
    try:
        lines = pathlib.Path("/proc/slabinfo").read_text().splitlines()[2:]
    except OSError:
        return {}
    words = [line.split() for line in lines]
    return {each[0]: int(each[2]) * int(each[3]) for each in words}


def growth(before, after, most=6):
    grown = {name: size - before.get(name, 0) for name, size in after.items()}
    return sorted(((size, name) for name, size in grown.items() if size > 0), reverse=True)[:most]
