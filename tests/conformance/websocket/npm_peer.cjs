// npm ws as a peer, called by npm_peer.py:
//
//   node npm_peer.cjs client URL    messages of many sizes, fragments, pings, a burst and a goodbye against an echo
//   node npm_peer.cjs server        echoes on a free port, which it prints; --deflate takes compression
"use strict";
const WebSocket = require("ws");
const [role, argument] = process.argv.slice(2);

function fail(text) {
  console.error(text);
  process.exit(1);
}

// An open socket whose messages are awaited one by one.
function open(url, options) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { rejectUnauthorized: false, maxPayload: 1 << 26, ...options });
    const arrived = [];
    const awaited = [];
    socket.on("message", (data, isBinary) => {
      const message = { data, isBinary };
      if (awaited.length > 0) awaited.shift()(message);
      else arrived.push(message);
    });
    socket.next = () => (arrived.length > 0 ? Promise.resolve(arrived.shift()) : new Promise((one) => awaited.push(one)));
    socket.closed = new Promise((one) => socket.on("close", (code, reason) => one({ code, reason: reason.toString() })));
    socket.on("open", () => resolve(socket));
    socket.on("error", reject);
  });
}

async function expectEcho(socket, payload) {
  const isBinary = typeof payload !== "string";
  socket.send(payload);
  const back = await socket.next();
  const same = isBinary ? Buffer.compare(back.data, payload) === 0 : back.data.toString() === payload;
  if (back.isBinary !== isBinary || !same) fail(`${payload.length} came back changed`);
}

async function client(url) {
  for (const perMessageDeflate of [false, true]) {
    const socket = await open(url, { perMessageDeflate });
    for (const size of [0, 1, 125, 126, 65535, 65536, 900000]) {
      await expectEcho(socket, "schön €😀".repeat(1 + size / 20).slice(0, size));
      await expectEcho(socket, require("crypto").randomBytes(size));
    }
    socket.send("in ", { fin: false });
    socket.send("three ", { fin: false });
    socket.send("fragments", { fin: true });
    if ((await socket.next()).data.toString() !== "in three fragments") fail("fragments");
    const pong = new Promise((resolve) => socket.on("pong", (data) => resolve(data.toString())));
    socket.ping("are you there");
    if ((await pong) !== "are you there") fail("a pong with something else");
    for (let i = 0; i < 500; i++) socket.send(String(i));
    for (let i = 0; i < 500; i++) if ((await socket.next()).data.toString() !== String(i)) fail("a burst is out of order");
    socket.close(3001, "bye");
    const { code, reason } = await socket.closed;
    if (code !== 3001 || reason !== "bye") fail(`closed by ${code} ${reason}`);
  }
  const large = await open(url);
  large.send("x".repeat((1 << 20) + 1));
  const { code } = await large.closed;
  if (code !== 1009) fail(`a message beyond the limit: ${code}`);
  const origin = await open(url.replace(/\/[^/]*$/, "/pipeline")).then(() => "opened", (error) => error.message);
  if (!origin.includes("Unexpected server response")) fail(`a page became a socket: ${origin}`);
}

function server(flag) {
  const listener = new WebSocket.Server({ port: 0, host: "127.0.0.1", perMessageDeflate: flag === "--deflate" });
  listener.on("connection", (socket) => {
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
    socket.on("error", (error) => fail(error.message));
  });
  listener.on("listening", () => console.log(`listening ${listener.address().port}`));
  process.on("SIGTERM", () => process.exit(0));
}

if (role === "client") client(argument).then(() => process.exit(0), (error) => fail(error.stack));
else server(argument);
