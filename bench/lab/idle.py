"""What an idle connection costs: resident memory over the number of connections held, least squares."""

import subprocess
import time

from .process import LabError, on_core
from .table import Row

SIZES = (0, 1000, 2500, 5000, 7500, 10000, 12500, 15000, 17000, 19000)
QUIET_AFTER_SECONDS = 12
SIZES_QUICK = (0, 250, 500, 1000, 1500, 2000, 2500, 3000)


class Holder:
    """bench/load/hold/hold_load.c on a pipe."""

    def __init__(self, build, core, url):
        command = on_core(core, [f"{build}/hold_load", url])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def order(self, text):
        """(held or answered, failed)"""
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        words = self.process.stdout.readline().split()
        if len(words) != 4:
            raise LabError(f"hold_load answered {words} to {text!r}")
        return int(words[1]), int(words[3])


def least_squares(points):
    """(slope, intercept, R², residuals)"""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    intercept = mean_y - slope * mean_x
    residuals = [y - intercept - slope * x for x, y in points]
    variance = sum((y - mean_y) ** 2 for _, y in points)
    fit = 1 - sum(r * r for r in residuals) / variance if variance else 0.0
    return slope, intercept, fit, residuals


def settle(server):
    """Resident bytes once they have stood still for 0.3 s."""
    last, since, deadline = server.rss_bytes(), time.monotonic(), time.monotonic() + 5
    while time.monotonic() < deadline and time.monotonic() - since < 0.3:
        time.sleep(0.05)
        now = server.rss_bytes()
        if now != last:
            last, since = now, time.monotonic()
    return last


def wait_for_descriptors(server, wanted):
    deadline = time.monotonic() + 10
    while server.descriptor_count() > wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    return server.descriptor_count()


def one(arm, build, server_core, load_core, sizes):
    with arm.start(server_core) as server, Holder(build, load_core, server.url(arm.target("get"))) as holder:
        # What the first connections and the first turn cost once belongs to the process, not to a connection.
        holder.order("open 50")
        holder.order("close")
        settle(server)
        base = server.descriptor_count()
        points, failed = [], 0
        for size in sizes:
            if size:
                held, failures = holder.order(f"open {size}")
                failed += failures
                if held != size:
                    raise LabError(f"{arm.name}: only {held} of {size} connections are held")
            points.append((size, settle(server)))
        # A timer that guarded the first request may still run out once; an idle server is quiet after that.
        time.sleep(QUIET_AFTER_SECONDS)
        switches = server.switch_count()
        time.sleep(2)
        wakes = (server.switch_count() - switches) / 2
        answered, failures = holder.order("ask")
        failed += failures
        holder.order("close")
        left = wait_for_descriptors(server, base) - base
        after = settle(server)
        slope, intercept, fit, residuals = least_squares(points)
        print(f"\n  {arm.name}: held   " + " ".join(f"{size}:{rss / 1048576:.2f}" for size, rss in points) + " (connections:MiB)")
        print(f"  {arm.name}: closed {after / 1048576:.2f} MiB, descriptors {left:+d}, asked again {answered}, failed {failed}")
        print(f"  {arm.name}: fit    {slope:.0f} B a connection, R² {fit:.5f}, residuals in KiB "
              + " ".join(f"{residual / 1024:+.0f}" for residual in residuals))  # fmt: skip
        return {"slope": slope, "base": intercept, "fit": fit, "closed": after, "left": left, "failed": failed, "wakes": wakes}


def measure(arms, build, server_core, load_core, report, is_quick):
    sizes = SIZES_QUICK if is_quick else SIZES
    print(f"\nidle connections: resident memory of the server (without the kernel's), {sizes[-1]:,} held at most")
    got = {arm.name: one(arm, build, server_core, load_core, sizes) for arm in arms.values() if arm.name != "limit_epoll"}
    value = lambda key, scale=1: {name: values[key] / scale for name, values in got.items()}  # noqa: E731
    report.add(
        "an idle connection",
        [
            Row("resident bytes each", value("slope"), must=640),
            Row("R²", value("fit"), digits=5),
            Row("MiB without any", value("base", 1048576), digits=2),
            Row("MiB after closing all", value("closed", 1048576), digits=2),
            Row("descriptors left over", value("left"), must=0),
            Row("failed", value("failed"), must=0),
            Row("wakes a second while idle", value("wakes"), must=0.5, digits=1),
        ],
        list(got),
    )
