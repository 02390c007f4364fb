// node client.mjs URL: a client that knows nothing but the document of the running showcase talks to it.
import { OpenAPIClientAxios } from "openapi-client-axios";
import assert from "node:assert/strict";

const base = process.argv[2];
const api = new OpenAPIClientAxios({
  definition: `${base}/docs/openapi.json`,
  axiosConfigDefaults: { baseURL: base, validateStatus: () => true, timeout: 20000, paramsSerializer: { indexes: null } },
});
const client = await api.init();

const hello = await client.getHello();
assert.equal(hello.status, 200);
assert.equal(hello.data, "hello, world\n");

const user = await client.getUsersById({ id: 7 });
assert.equal(user.data, "user number 7\n");
const wrong = await client.getUsersById({ id: "ada" });
assert.equal(wrong.status, 400);

const sum = await client.getSumByAAndB({ a: 1.5, b: 2 });
assert.equal(Number(sum.data), 3.5);

const found = await client.getSearch({ q: "green tea", limit: 5, tag: ["a", "b"] });
assert.equal(found.data, "about green tea, at most 5\ntagged a\ntagged b\n");

const echo = await client.postEcho(null, "schön", { headers: { "Content-Type": "text/plain" } });
assert.equal(echo.data, "schön");

const booked = await client.postBookings(null, { name: "ada", mail: "a@example.org", guests: 3 });
assert.equal(booked.status, 201);
assert.equal(booked.headers.location, `/bookings/${booked.data.number}`);
assert.equal(booked.data.greeting, "See you, ada");

// What the document says of the body is what the server wants.
const operation = api.getOperation("postBookings");
const schema = operation.requestBody.content["application/json"].schema;
assert.deepEqual(schema.required, ["name", "mail"]);
assert.equal(schema.properties.guests.maximum, 8);
const refused = await client.postBookings(null, { name: "", mail: "x", guests: 9 });
assert.equal(refused.status, 422);
assert.ok(operation.responses["422"]);

console.log(`talked to ${base} by ${api.getOperations().length} operations of its document`);
