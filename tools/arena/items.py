"""json, json_comp: items of the data set with a total computed for each request, and compressed for who takes that. The
entry has to serve the data of dataset.py."""

import json

from . import dataset
from .registry import check
from .static import decoded
from .wire import require, request

FIELDS = {"id": int, "name": str, "category": str, "price": int, "quantity": int, "active": bool, "tags": list}


# As the load asks, and alone: gzip is what can be decoded everywhere.
ACCEPT_BOTH = "Accept-Encoding: gzip, br"
ACCEPT_GZIP = "Accept-Encoding: gzip"


async def ask(entry, count, multiplier, *lines):
    target = f"/json/{count}" if multiplier is None else f"/json/{count}?m={multiplier}"
    answer = await entry.exchange(request("GET", target, *lines))
    require(answer.status == 200, f"{target}: status {answer.status}")
    answer.expect_type("application/json")
    return answer


def read(body, count):
    try:
        return json.loads(body)
    except ValueError as error:
        require(False, f"/json/{count}: {error}")


async def listing(entry, count, multiplier):
    answer = await ask(entry, count, multiplier)
    require("content-encoding" not in answer.fields, f"/json/{count}: Content-Encoding although nobody asked for one")
    return read(answer.body, count)


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


@check("json_comp.coded", "gzip or br, and smaller, for who takes them", "json_comp_plain")
async def coded(entry, random):
    plain = await ask(entry, 50, 6)
    answer = await ask(entry, 50, 6, ACCEPT_BOTH)
    coding = answer.fields.get("content-encoding")
    require(coding in ("gzip", "br"), f"Content-Encoding is {coding}")
    require(len(answer.body) < len(plain.body) / 2, f"{len(answer.body)} bytes of {len(plain.body)}")
    return f"{coding}, {len(answer.body)} bytes of {len(plain.body)}"


@check("json_comp.right", "what was compressed is the listing that was asked for", "json_comp_kept")
async def right(entry, random):
    for accept in (ACCEPT_GZIP, ACCEPT_BOTH):
        for _ in range(3):
            count, multiplier = random.randint(5, 50), random.randint(2, 89)
            answer = await ask(entry, count, multiplier, accept)
            body = decoded(answer, f"/json/{count}")
            if body is not None:
                expect_items(read(body, count), count, multiplier)


@check("json_comp.vary", "Vary names Accept-Encoding, compressed or not", "json_comp_no_vary")
async def vary(entry, random):
    for lines in ((), (ACCEPT_BOTH,)):
        answer = await ask(entry, 50, 6, *lines)
        names = [name.strip().lower() for name in answer.fields.get("vary", "").split(",")]
        require("accept-encoding" in names, f"Vary is {answer.fields.get('vary')}")


@check("json_comp.forbidden", "not by a coding that the client refuses", "json_comp_forced")
async def forbidden(entry, random):
    answer = await ask(entry, 50, 6, "Accept-Encoding: gzip;q=0, br;q=0")
    require("content-encoding" not in answer.fields, f"Content-Encoding is {answer.fields.get('content-encoding')}")
