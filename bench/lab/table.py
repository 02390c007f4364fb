"""Readings as rows of a table, with what they must reach."""

import dataclasses


@dataclasses.dataclass
class Row:
    name: str
    values: dict  # arm -> number or None
    must: float = None  # of the arm that is judged; at most
    aim: float = None
    digits: int = 0
    note: str = ""
    judged: str = "arena"

    def verdict(self):
        value = self.values.get(self.judged)
        if self.must is None or value is None:
            return ""
        if value > self.must:
            return "MISSED"
        return "aim" if self.aim is not None and value <= self.aim else "ok"


class Report:
    """Prints sections as they are measured and keeps everything for --json."""

    def __init__(self):
        self.sections = []
        self.costs = None  # of lab/count/costs.py

    def add(self, title, rows, arms):
        self.sections.append({"title": title, "rows": rows})
        print(f"\n{title}")
        width = max([len(row.name) for row in rows] + [24])
        print(f"  {'':<{width}}" + "".join(f"{arm:>13}" for arm in arms) + f"{'must':>9}{'aim':>8}")
        for row in rows:
            number = lambda value: "-" if value is None else f"{value:,.{row.digits}f}"  # noqa: B023,E731
            cells = "".join(f"{number(row.values.get(arm)):>13}" for arm in arms)
            limits = f"{number(row.must):>9}{number(row.aim):>8}" if row.must is not None else " " * 17
            print(f"  {row.name:<{width}}{cells}{limits}  {row.verdict():<7}{row.note}".rstrip(), flush=True)

    def missed(self):
        return [row.name for section in self.sections for row in section["rows"] if row.verdict() == "MISSED"]

    def as_json(self):
        return [
            {"title": section["title"], "rows": [dict(dataclasses.asdict(row), verdict=row.verdict()) for row in section["rows"]]}
            for section in self.sections
        ]
