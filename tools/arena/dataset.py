"""The data set of the arena: 50 items of the shape and about the sizes that its contract gives. The same on every machine
and every run. `python3 tools/arena/dataset.py FILE` writes it."""

import json
import pathlib
import random
import sys

COUNT = 50
CATEGORIES = ("electronics", "furniture", "clothing", "books", "toys", "sports", "garden", "kitchen", "music", "office")
FIRST = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta", "Iota", "Kappa")
SECOND = ("Widget", "Gadget", "Gizmo", "Device", "Tool")
TAGS = ("sale", "new", "fast", "popular", "limited", "eco", "premium")


def items():
    chance = random.Random(2026)
    return [
        {
            "id": index + 1,
            "name": f"{FIRST[index % 10]} {SECOND[index // 10]}",
            "category": CATEGORIES[index % 10],
            "price": chance.randint(2, 496),
            "quantity": chance.randint(4, 97),
            "active": chance.random() < 0.6,
            "tags": chance.sample(TAGS, chance.randint(1, 4)),
            "rating": {"score": chance.randint(1, 50), "count": chance.randint(1, 500)},
        }
        for index in range(COUNT)
    ]


def write(path):
    pathlib.Path(path).write_text(json.dumps(items(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
