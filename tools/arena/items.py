"""json: items of the data set with a total computed for each request. The entry has to serve the data of dataset.py."""

import json

from . import dataset
from .registry import check
from .wire import require, request

FIELDS = {"id": int, "name": str, "category": str, "price": int, "quantity": int, "active": bool, "tags": list}


async def listing(entry, count, multiplier):
    target = f"/json/{count}" if multiplier is None else f"/json/{count}?m={multiplier}"
    answer = await entry.exchange(request("GET", target))
    require(answer.status == 200, f"{target}: status {answer.status}")
    answer.expect_type("application/json")
    require("content-encoding" not in answer.fields, f"{target}: Content-Encoding although nobody asked for one")
    try:
        return json.loads(answer.body)
    except ValueError as error:
        require(False, f"{target}: {error}")


def expect_items(found, count, multiplier):
    items = found.get("items")
    require(isinstance(items, list) and found.get("count") == count == len(items), f"not {count} items and their count")
    for item, expected in zip(items, dataset.items(), strict=False):
        for name, kind in FIELDS.items():
            require(type(item.get(name)) is kind, f"item {item.get('id')}: {name} is no {kind.__name__}")
        total = expected["price"] * expected["quantity"] * multiplier
        require(type(item.get("total")) is int and item["total"] == total, f"item {item['id']}: total, expected {total}")
        rest = {name: value for name, value in item.items() if name != "total"}
        require(rest == expected, f"item {item['id']} is {rest}, expected {expected}")


@check("json.pairs", "the counts and multipliers of the load", "json_total")
async def pairs(entry, random):
    for count, multiplier in ((1, 3), (5, 7), (10, 2), (15, 5), (25, 4), (40, 8), (50, 6)):
        expect_items(await listing(entry, count, multiplier), count, multiplier)


@check("json.random", "random counts and multipliers, each computed anew", "json_cached")
async def at_random(entry, random):
    for _ in range(8):
        count, multiplier = random.randint(1, 50), random.randint(2, 97)
        expect_items(await listing(entry, count, multiplier), count, multiplier)


@check("json.default", "without m the multiplier is 1", "json_default")
async def default(entry, random):
    expect_items(await listing(entry, 50, None), 50, 1)


@check("json.types", "numbers are numbers and flags are flags", "json_types")
async def types(entry, random):
    expect_items(await listing(entry, 12, 3), 12, 3)


@check("json.content_type", "Content-Type is application/json", "json_content_type")
async def content_type(entry, random):
    await listing(entry, 50, 1)


@check("json.wrong", "a count that is no number is refused", "json_wrong")
async def wrong(entry, random):
    (await entry.exchange(request("GET", "/json/many"))).expect_refused()
