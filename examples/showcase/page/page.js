"use strict";

const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
const make = (tag, className = "", text = "") => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
};
const MiB = 1 << 20;
const bytes = (n) => n < 1024 ? `${n} B` : n < MiB ? `${(n / 1024).toFixed(1)} KiB` : `${(n / MiB).toFixed(1)} MiB`;
const grouped = (n) => n.toLocaleString("en");

// --- what came back

// A box for one answer in the panel of `control`; the last one replaces the one before.
function resultFor(control, request) {
  const panel = control.closest(".panel");
  const box = make("div", "result");
  const meta = make("div", "meta");
  const status = make("span", "status", "…");
  const time = make("span", "time");
  const text = make("pre");
  status.setAttribute("role", "status");
  text.tabIndex = 0;
  meta.append(make("code", "", request), status, time);
  box.append(meta, text);
  const old = $(".result", panel);
  if (old) old.replaceWith(box);
  else panel.insertBefore(box, $(".code", panel));
  const begin = performance.now();
  return {
    text,
    head(code, words, good) {
      status.textContent = `${code} ${words}`.trim();
      status.classList.add(good ? "good" : "bad");
      this.tick();
    },
    tick() {
      const ms = performance.now() - begin;
      time.textContent = ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`;
    },
    fail(error) {
      this.head("", error.name === "AbortError" ? "left" : "no answer", false);
      if (error.name !== "AbortError") text.textContent = String(error);
    },
  };
}

async function send(control, request, { body, signal, withFields } = {}) {
  const [method, url] = request.split(" ");
  const result = resultFor(control, request);
  try {
    const response = await fetch(url, { method, body, signal, cache: "no-store" });
    result.head(response.status, response.statusText, response.ok);
    let text = "";
    const allow = response.headers.get("Allow");
    if (withFields) for (const [name, value] of response.headers) text += `${name}: ${value}\n`;
    else if (allow) text += `Allow: ${allow}\n`;
    result.text.textContent = (text ? `${text}\n` : "") + await response.text();
  } catch (error) {
    result.fail(error);
  }
}

// --- controls

for (const button of $$("[data-get]")) button.onclick = () => send(button, `GET ${button.dataset.get}`);
for (const button of $$("[data-request]")) {
  const size = Number(button.dataset.bytes ?? 0);
  button.onclick = () => send(button, button.dataset.request, {
    body: size ? "x".repeat(size) : undefined,
    withFields: "fields" in button.dataset,
  });
}
for (const form of $$("form:not([data-chat])")) {
  form.onsubmit = (event) => {
    event.preventDefault();
    const value = form.elements.value.value;
    if (form.dataset.post) send(form, `POST ${form.dataset.post}`, { body: value });
    else send(form, `GET ${form.dataset.path}${value.replaceAll(" ", "%20")}`);
  };
}

// "leave" of a panel ends what was begun there.
function leaving(control) {
  const button = $("[data-cancel]", control.closest(".panel"));
  const controller = new AbortController();
  button.running ??= new Set();
  button.running.add(controller);
  button.disabled = false;
  button.onclick = () => button.running.forEach((running) => running.abort());
  return {
    signal: controller.signal,
    end() {
      button.running.delete(controller);
      button.disabled = button.running.size === 0;
    },
  };
}

// Browsers open six connections to a server at most; the counters need one, too.
const kSlowMax = 3;
let slowCount = 0;
const slowButtons = $$("[data-slow]");
for (const button of slowButtons) {
  button.onclick = async () => {
    ++slowCount;
    slowButtons.forEach((other) => { other.disabled = slowCount >= kSlowMax; });
    const left = leaving(button);
    poll();
    await send(button, `GET /slow?ms=${button.dataset.slow}`, { signal: left.signal });
    left.end();
    --slowCount;
    slowButtons.forEach((other) => { other.disabled = false; });
    setTimeout(poll, 50);
  };
}

for (const button of $$("[data-stream]")) {
  button.onclick = async () => {
    const left = leaving(button);
    const result = resultFor(button, `GET ${button.dataset.stream}`);
    try {
      const response = await fetch(button.dataset.stream, { signal: left.signal, cache: "no-store" });
      result.head(response.status, response.statusText, response.ok);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        result.text.append(piece.value);
        result.text.scrollTop = result.text.scrollHeight;
        result.tick();
      }
    } catch (error) {
      result.fail(error);
    }
    left.end();
  };
}

// fetch() tells nothing of what it has sent; XMLHttpRequest does.
function upload(control, blob) {
  const panel = control.closest(".panel");
  $("[data-cancel]", panel).onclick?.();  // one at a time: there is one bar
  const slowly = $("[data-slowly]", panel).checked;
  const url = slowly ? "/upload?pause_ms=10" : "/upload";
  const result = resultFor(control, `POST ${url}`);
  const left = leaving(control);
  const request = new XMLHttpRequest();
  const begin = performance.now();
  let last = null;
  const show = (sent, total) => {
    const seconds = (performance.now() - begin) / 1000;
    $("progress", panel).value = total ? sent / total : 0;
    $("[data-rate]", panel).textContent = `${bytes(sent)} of ${bytes(total)} · ${bytes(Math.round(sent / seconds))}/s`;
  };
  request.upload.onprogress = (event) => { last = event; show(event.loaded, event.total); result.tick(); };
  request.onload = () => {
    result.head(request.status, request.statusText, request.status < 400);
    result.text.textContent = request.responseText;
    if (request.status < 400) show(blob.size, blob.size);
  };
  request.onerror = () => result.fail(new Error(last ? "The connection was closed." : "The server cannot be reached."));
  request.onabort = () => result.fail(new DOMException("", "AbortError"));
  request.onloadend = () => { left.end(); poll(); };
  left.signal.onabort = () => request.abort();
  show(0, blob.size);
  request.open("POST", url);
  request.send(blob);
}
for (const button of $$("[data-upload]")) {
  button.onclick = () => upload(button, new Blob(Array(Number(button.dataset.upload)).fill(new Uint8Array(MiB))));
}
$("[data-file]").onchange = (event) => {
  if (event.target.files.length > 0) upload(event.target, event.target.files[0]);
  event.target.value = "";
};

// --- the chat

const kChatLinesMax = 100;
const chat = { form: $("[data-chat]"), lines: $(".chat"), here: 0, latency: 0, socket: null, attempt: 0 };
const room = () => chat.form.elements.room.value.trim() || "lobby";

function showChatState(text) {
  $("[data-chat-state]").textContent = text ??
    `${chat.here} here in ${chat.socket.room}${chat.latency ? `, ${chat.latency.toFixed(1)} ms to the server and back` : ""}`;
}
function showChatLine(text, isOurs) {
  chat.lines.append(make("li", isOurs ? "ours" : "", text));
  while (chat.lines.children.length > kChatLinesMax) chat.lines.firstChild.remove();
  chat.lines.scrollTop = chat.lines.scrollHeight;
}
// What comes begins with a letter: c how many are here, m what somebody said, p our own clock, back from the server.
function openChat() {
  chat.socket?.close();
  const url = new URL(`/chat/${encodeURIComponent(room())}`, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new WebSocket(url);
  socket.room = room();
  chat.socket = socket;
  socket.onmessage = ({ data }) => {
    const rest = data.slice(1);
    if (data[0] === "m") showChatLine(rest, rest === socket.said);
    if (data[0] === "c") chat.here = Number(rest);
    if (data[0] === "p") chat.latency = performance.now() - Number(rest);
    chat.attempt = 0;
    showChatState();
  };
  socket.onclose = ({ code }) => {
    if (chat.socket !== socket) return;
    showChatState(`closed (${code}), connecting again …`);
    setTimeout(openChat, Math.min(30_000, 500 * 2 ** chat.attempt++) * (0.5 + Math.random() / 2));
  };
}
chat.form.onsubmit = (event) => {
  event.preventDefault();
  const { text } = chat.form.elements;
  if (!text.value || chat.socket.readyState !== WebSocket.OPEN) return;
  chat.socket.said = text.value;
  chat.socket.send(`m${text.value}`);
  text.value = "";
};
chat.form.elements.room.onchange = openChat;
setInterval(() => {
  if (!document.hidden && chat.socket.readyState === WebSocket.OPEN) chat.socket.send(`p${performance.now()}`);
}, 2000);
openChat();

// --- counters

let before = null;
const rates = [];
async function poll() {
  const note = $("[data-live-note]");
  try {
    const now = await (await fetch("/live", { cache: "no-store" })).json();
    const at = performance.now();
    const values = { ...now, open: now.connections_opened - now.connections_closed, uploaded: now.upload_bytes };
    if (before && at - before.at > 900) {
      rates.push((now.requests - before.requests) / ((at - before.at) / 1000));
      if (rates.length > 60) rates.shift();
    }
    if (!before || at - before.at > 900) before = { at, requests: now.requests };
    values.rate = rates.length > 0 ? Math.round(rates.at(-1)) : 0;
    for (const element of $$("[data-count]")) {
      const value = values[element.dataset.count];
      element.textContent = element.dataset.count === "uploaded" ? bytes(value) : grouped(value);
    }
    const top = Math.max(5, ...rates);
    const first = 60 - rates.length;
    const points = rates.map((rate, i) => `${(first + i) * 600 / 59},${56 - rate / top * 50}`).join(" ");
    $(".chart polyline").setAttribute("points", points);
    if (note.textContent) note.textContent = "";
  } catch {
    note.textContent = "The server does not answer.";
  }
}
async function pollForever() {
  if (!document.hidden) await poll();
  setTimeout(pollForever, 1000);
}

// --- limits

function spoken(value, unit) {
  if (value === 0) return "by the system";
  if (unit === "ms" && value % 1000 === 0) return `${grouped(value / 1000)} s`;
  if (unit === "bytes" && value % MiB === 0) return `${value / MiB} MiB`;
  if (unit === "bytes" && value % 1024 === 0) return `${value / 1024} KiB`;
  return `${grouped(value)} ${unit}`;
}
async function showLimits() {
  const rows = await (await fetch("/limits")).json();
  for (const limit of rows) {
    const row = make("tr");
    row.append(make("td", "", limit.name), make("td", "number", spoken(limit.value, limit.unit)),
      make("td", "", limit.status ? String(limit.status) : "–"), make("td", "", limit.stops));
    $("#limits tbody").append(row);
  }
}

// --- source

const kToken = new RegExp([
  /(?<c>\/\/[^\n]*)/, /(?<s>"(?:\\.|[^"\\])*")/, /(?<n>\b\d[\d'.]*\b)/,
  /(?<k>\b(?:auto|bool|break|const|co_await|co_return|co_yield|double|false|for|if|int|return|struct|throw|true|unsigned|void)\b)/,
  /(?<t>\b(?:std::)?(?:[A-Z]\w*|string|vector|uint\d+_t|runtime_error)\b)/,
].map((part) => part.source).join("|"), "g");

function highlight(code) {
  const pre = make("pre", "code");
  pre.tabIndex = 0;
  pre.setAttribute("aria-label", "C++ source");
  let at = 0;
  for (const match of code.matchAll(kToken)) {
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    pre.append(code.slice(at, match.index), make("i", kind, match[0]));
    at = match.index + match[0].length;
  }
  pre.append(code.slice(at));
  return pre;
}

// All blocks of that name, each moved to the left as far as it goes.
function blocksOf(source, name) {
  const blocks = [];
  for (const part of source.split(`// [${name}]\n`).slice(1)) {
    const lines = part.slice(0, part.indexOf("// [end]")).trimEnd().split("\n");
    const margin = Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)));
    blocks.push(lines.map((line) => line.slice(margin)).join("\n"));
  }
  return blocks.join("\n\n");
}
async function showSource() {
  const source = await (await fetch("/routes.cc")).text();
  for (const panel of $$(".panel")) {
    const code = blocksOf(source, panel.id);
    if (code) panel.append(highlight(code));
  }
}

for (const panel of $$(".panel")) {
  const link = make("a", "", panel.dataset.title);
  link.href = `#${panel.id}`;
  $("nav").append(link);
}
showSource();
showLimits();
pollForever();
// What costs nothing is shown at once.
for (const control of $$("[data-first]")) {
  if (control.tagName === "FORM") control.requestSubmit();
  else control.click();
}
