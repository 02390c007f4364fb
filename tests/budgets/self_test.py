#!/usr/bin/env python3
"""Proves that the counters of the budgets count, and that every budget can fail: self_test.py BUILD"""

import copy
import pathlib
import sys
import tomllib
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from lab.count import costs, judge, ledger, wires  # noqa: E402
from lab.count.shapes import Shape  # noqa: E402
from lab.count.subject import Subject  # noqa: E402
from lab.process import LabError  # noqa: E402

BUILD = pathlib.Path()

GOOD = {
    "build": {"compiler": "clang 19", "flags": "-O2"},
    "shapes": {
        "h1-get": {
            "instructions": 2000,
            "system_calls": 3.0,
            "allocations": 0,
            "copied_bytes": 100,
            "locks": 0,
            "page_faults": 0,
        }
    },
    "idle": {"h1": 500},
    "sizes": {"Exchange": 6000},
}


def changed(*path, value):
    """GOOD with one value replaced."""
    all_of_it = copy.deepcopy(GOOD)
    place = all_of_it
    for name in path[:-1]:
        place = place[name]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return all_of_it


class Judging(unittest.TestCase):
    def reds(self, measured, budgets=GOOD):
        return [finding.text for finding in judge.judge(measured, budgets) if finding.is_red]

    def asks(self, measured, budgets=GOOD):
        return [finding.text for finding in judge.judge(measured, budgets) if not finding.is_red]

    def test_what_is_within_its_budgets_is_kept(self):
        self.assertEqual(judge.judge(GOOD, GOOD), [])

    def test_instructions_may_grow_by_three_percent_and_no_more(self):
        self.assertEqual(self.reds(changed("shapes", "h1-get", "instructions", value=2060)), [])
        self.assertEqual(len(self.reds(changed("shapes", "h1-get", "instructions", value=2061))), 1)

    def test_every_column_can_be_too_much(self):
        for column in judge.COLUMNS:
            more = GOOD["shapes"]["h1-get"][column] * 1.04 + 1
            self.assertEqual(len(self.reds(changed("shapes", "h1-get", column, value=more))), 1, column)

    def test_one_allocation_in_a_hundred_requests_is_too_much(self):
        self.assertEqual(len(self.reds(changed("shapes", "h1-get", "allocations", value=0.01))), 1)

    def test_idle_bytes_and_sizes_can_be_too_much(self):
        self.assertEqual(len(self.reds(changed("idle", "h1", value=506))), 1)
        self.assertEqual(len(self.reds(changed("sizes", "Exchange", value=6001))), 1)

    def test_an_idle_connection_may_differ_by_a_hundredth(self):
        self.assertEqual(self.reds(changed("idle", "h1", value=504.9)), [])

    def test_what_became_cheaper_asks_for_a_lower_budget(self):
        for column in ("instructions", "system_calls", "copied_bytes"):
            less = GOOD["shapes"]["h1-get"][column] * 0.9
            self.assertEqual(len(self.asks(changed("shapes", "h1-get", column, value=less))), 1, column)

    def test_what_was_not_measured_is_red(self):
        for path in (("shapes", "h1-get", "locks"), ("shapes", "h1-get"), ("idle", "h1"), ("sizes", "Exchange")):
            self.assertNotEqual(self.reds(changed(*path, value=None)), [], path)

    def test_what_has_no_budget_is_red(self):
        for path in (("shapes", "h1-get", "locks"), ("shapes", "h1-get"), ("idle", "h1"), ("sizes", "Exchange")):
            self.assertNotEqual(self.reds(GOOD, changed(*path, value=None)), [], path)

    def test_budgets_of_another_build_are_red(self):
        self.assertEqual(len(self.reds(changed("build", "compiler", value="clang 20"))), 1)


class Writing(unittest.TestCase):
    def written(self, measured, budgets, may_raise=False):
        return tomllib.loads(judge.render(measured, budgets, may_raise))

    def test_what_is_written_is_what_is_read(self):
        self.assertEqual(self.written(GOOD, {}), GOOD)

    def test_budgets_are_lowered_but_not_raised_unasked(self):
        path = ("shapes", "h1-get", "instructions")
        read = lambda table: table["shapes"]["h1-get"]["instructions"]  # noqa: E731
        self.assertEqual(read(self.written(changed(*path, value=1800), GOOD)), 1800)
        self.assertEqual(read(self.written(changed(*path, value=2500), GOOD)), 2000)
        self.assertEqual(read(self.written(changed(*path, value=2500), GOOD, may_raise=True)), 2500)
        self.assertEqual(read(self.written(changed(*path, value=2050), GOOD, may_raise=True)), 2000)


SHAPE = Shape("known", "--h1", lambda port, is_secure: wires.Http1(port, is_secure, wires.get("/"), b"Hello, World!"))


class Counting(unittest.TestCase):
    """Against a server that wastes an exactly known amount."""

    @staticmethod
    def subject(*waste):
        return Subject(BUILD / "known_costs", is_arena=False, flags=tuple(map(str, waste)))

    def measured(self, *waste):
        return ledger.measure_shapes(self.subject(*waste), BUILD, [SHAPE])["known"]

    def test_each_kind_of_waste_is_counted_and_alone_makes_its_budget_red(self):
        budget = {"shapes": {"known": self.measured()}}
        for flag, waste, column, wanted in (
            ("--instructions", 1000, "instructions", 1000),
            ("--allocations", 3, "allocations", 3),
            ("--copies", 5000, "copied_bytes", 5000),
            ("--locks", 2, "locks", 2),
            ("--system-calls", 4, "system_calls", 4),
            ("--pages", 1, "page_faults", 1),
        ):
            with self.subTest(flag):
                got = self.measured(flag, waste)
                self.assertAlmostEqual(got[column] - budget["shapes"]["known"][column], wanted, delta=wanted * 0.02)
                measured = {"build": {}, "idle": {}, "sizes": {}, "shapes": {"known": got}}
                reds = [finding.text for finding in judge.judge(measured, budget) if finding.is_red]
                self.assertTrue(any(text.startswith(f"known, {column}:") for text in reds), reds)

    def test_a_connection_is_weighed(self):
        weigh = lambda *waste: ledger.weigh_idle(self.subject(*waste), BUILD, [SHAPE])["known"]  # noqa: E731
        self.assertEqual(weigh(), 0)
        self.assertAlmostEqual(weigh("--idle", 1000), 1000, delta=16)

    def test_readings_that_differ_are_no_reading(self):
        self.assertEqual(ledger.steady(SHAPE, [1000, 1005, 1500]), 1000)
        with self.assertRaises(LabError):
            ledger.steady(SHAPE, [1000, 1020, 1030])

    def test_a_wrong_answer_is_no_answer(self):
        wrong = Shape("wrong", "--h1", lambda port, is_secure: wires.Http1(port, is_secure, wires.get("/"), b"other"))
        with self.assertRaises(LabError):
            ledger.count_system_calls(self.subject(), [wrong])

    def test_an_unoptimised_build_is_refused(self):
        with self.assertRaises(LabError):
            costs.build_of(BUILD.parent / "test")

    def test_a_listener_that_is_not_there_is_an_error(self):
        with self.assertRaises(LabError), self.subject().start(["--h1", "--h2"]):
            pass


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
