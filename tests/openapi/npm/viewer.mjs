// node viewer.mjs FOLDER: the parts of the viewer that need no page.
import assert from "node:assert/strict";

const { curlLine, makeRequest, readEvents } = await import(`${process.argv[2]}/request.js`);
const { sampleOfPattern, Schemas } = await import(`${process.argv[2]}/schema.js`);

// Events are the same however the stream is split.
const stream = ": comment\nid: 7\nevent: tick\ndata: one\ndata: two\n\ndata\n\nretry: 5\n\r\ndata: grün\r\n\r\n";
const bytes = new TextEncoder().encode(stream);
async function events(pieces) {
  const found = [];
  await readEvents(new ReadableStream({ start(to) { pieces.forEach((piece) => to.enqueue(piece)); to.close(); } }), (event) => found.push(event));
  return found;
}
const whole = await events([bytes]);
assert.deepEqual(whole, [{ id: "7", event: "tick", data: "one\ntwo" }, { data: "" }, { data: "grün" }]);
assert.deepEqual(await events([...bytes].map((byte) => Uint8Array.of(byte))), whole);
for (let at = 1; at < bytes.length; ++at) assert.deepEqual(await events([bytes.slice(0, at), bytes.slice(at)]), whole, `split at ${at}`);

// What was typed stays where it belongs.
const request = makeRequest({
  base: "https://a.example/", path: "/files/{path}/{id}", method: "put",
  parameters: [{ name: "path", in: "path", isRest: true }, { name: "id", in: "path" }, { name: "q", in: "query" }, { name: "X-A", in: "header" }, { name: "c", in: "cookie" }],
  values: [["a/b c"], ["x/y"], ["1&2", "ü"], ["z"], ["w"]], body: { media: "application/json", data: "{}" },
  security: [{ missing: [] }, { bearer: [] }], schemes: { bearer: { type: "http", scheme: "bearer" } }, secrets: new Map([["bearer", "t'k"]]),
});
assert.equal(request.url, "https://a.example/files/a/b%20c/x%2Fy?q=1%262&q=%C3%BC");
assert.deepEqual(request.headers, { "X-A": "z", Authorization: "Bearer t'k", "Content-Type": "application/json" });
const line = curlLine(request, "it's");
assert.ok(line.includes(`-H 'Authorization: Bearer t'\\''k'`) && line.includes(`--data-raw 'it'\\''s'`) && line.includes("-b 'c=w'"), line);

// Samples fit.
for (const pattern of ["^[0-9]{12,19}$", "^(a|b(c|d))x?$", "\\d{3}-[A-Z]{2}", "^\\+?[0-9 ]{3,}$"]) {
  assert.match(sampleOfPattern(pattern), new RegExp(pattern));
}
const schemas = new Schemas({ components: { schemas: {
  Tree: { type: "object", properties: { name: { type: "string", minLength: 6 }, children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
    key: { type: "string", writeOnly: true } } },
} } });
const tree = schemas.sample({ $ref: "#/components/schemas/Tree" }, false);
assert.equal(tree.name, "textxx");
assert.equal("key" in tree, false);
assert.equal(schemas.typeText({ type: ["integer", "null"], format: "int32" }), "integer · int32 | null");
console.log("the viewer's parts do what they should");
