"""Checks register themselves by profile, each with the fault of the stand-in server that has to make it fail."""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Check:
    name: str  # "profile.rule"
    title: str  # what is right when it passes
    fault: str  # see stand_in.py and stand_in_h2.py
    run: typing.Callable  # async (entry, random) -> what was seen, or None
    listener: str = "h1"  # which one it asks: h1, h1_tls, tls_check, h2c, h2


CHECKS = []


def check(name, title, fault, listener="h1"):
    def register(run):
        CHECKS.append(Check(name, title, fault, run, listener))
        return run

    return register
