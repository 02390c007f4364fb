"""Holds what was counted against bench/budgets.toml."""

import dataclasses
import tomllib

# Column -> (share above which it is too much, share below which the budget is too high, what counts as nothing).
COLUMNS = {
    "instructions": (0.03, 0.05, 0.5),
    "system_calls": (0.0, 0.05, 0.02),
    "allocations": (0.0, 0.05, 0.005),
    "copied_bytes": (0.03, 0.05, 0.5),
    "locks": (0.0, 0.05, 0.005),
    "page_faults": (0.0, 0.05, 0.02),
}
# Of the tables of bytes. What an idle connection weighs is a mean over many and moves by a few bytes from run to run: the
# tables of the process grow by doubling. The size of a structure is exact.
BYTES = {"idle": (0.01, 0.05, 0.5), "sizes": (0.0, 0.05, 0.5)}

HEADER = """\
# What a request of each shape may cost, and what an idle connection and the hot structures may weigh. Held by the test
# `budgets`, measured by `make budgets`; docs/performance.md says how. Above a budget by more than 3 % for instructions
# and copied bytes, 1 % for idle connections, or at all for the rest, the test is red. `bench/budgets.py --build
# build/bench --write` lowers what has become less and adds what is new; --raise writes what has become more, which needs
# a reason in the commit.
"""


@dataclasses.dataclass(frozen=True)
class Finding:
    is_red: bool
    text: str


def load(path):
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}


def judge_value(name, value, budget, rule):
    """The finding about one value, None when it is as it should be."""
    over, under, nothing = rule
    if value is None:
        return Finding(True, f"{name}: was not measured")
    if budget is None:
        return Finding(True, f"{name}: has no budget; it is {value:,.2f}")
    if value > budget * (1 + over) + nothing:
        share = f" ({100 * (value / budget - 1):+.1f} %)" if budget else ""
        return Finding(True, f"{name}: {value:,.2f} is over its budget of {budget:,.2f}{share}")
    if value < budget * (1 - under) - nothing:
        return Finding(False, f"{name}: {value:,.2f} is under its budget of {budget:,.2f}: lower it")
    return None


def pairs(measured, budgets):
    """(name, value, budget, rule) of everything that is measured or has a budget."""
    shapes, wanted = measured["shapes"], budgets.get("shapes", {})
    for shape in dict.fromkeys([*shapes, *wanted]):
        for column, rule in COLUMNS.items():
            value = shapes.get(shape, {}).get(column)
            yield f"{shape}, {column}", value, wanted.get(shape, {}).get(column), rule
    for table, rule in BYTES.items():
        got, wanted_here = measured[table], budgets.get(table, {})
        for name in dict.fromkeys([*got, *wanted_here]):
            yield f"{table}, {name}", got.get(name), wanted_here.get(name), rule


def judge(measured, budgets):
    findings = [judge_value(*pair) for pair in pairs(measured, budgets)]
    if budgets.get("build", {}) != measured["build"]:
        findings.append(Finding(True, f"the budgets are of {budgets.get('build')}, this is {measured['build']}"))
    return [finding for finding in findings if finding]


# --- writing


def rounded(value, rule):
    """As a budget: small noise is nothing, bytes and instructions are whole."""
    over, _, nothing = rule
    if value <= nothing and over == 0.0:
        return 0
    return round(value) if nothing >= 0.5 else round(value, 2)


def chosen(value, budget, rule, may_raise):
    """The budget to write for `value`."""
    if value is None:
        return budget
    new = rounded(value, rule)
    if budget is None or new < budget:
        return new
    # Only what is over its budget is raised: small steps within the tolerance must not add up.
    is_over = judge_value("", value, budget, rule) is not None
    return new if may_raise and is_over else budget


def render(measured, budgets, may_raise):
    """The text of budgets.toml."""
    lines = [HEADER, "[build]"]
    lines += [f'{name} = "{value}"' for name, value in measured["build"].items()]
    for shape, values in measured["shapes"].items():
        old = budgets.get("shapes", {}).get(shape, {})
        lines += ["", f"[shapes.{shape}]"]
        lines += [f"{c} = {chosen(values.get(c), old.get(c), rule, may_raise)}" for c, rule in COLUMNS.items()]
    for table, rule in BYTES.items():
        old = budgets.get(table, {})
        lines += ["", f"[{table}]"]
        lines += [f'"{name}" = {chosen(value, old.get(name), rule, may_raise)}' for name, value in measured[table].items()]
    return "\n".join(lines) + "\n"
