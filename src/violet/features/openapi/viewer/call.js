// Trying an operation out: a form for its parameters and its body, the request as a curl line, and what comes back.
import { copyButton, h, jsonCode, newId } from "./dom.js";
import { curlLine, makeRequest, readEvents, setCookies } from "./request.js";

const kShownMax = 1000000; // characters of an answer
const kEventsMax = 500;

const mediaIs = (media, kind) => (media ?? "").split(";")[0].trim() === kind;
const isJson = (media) => /[/+]json$/.test((media ?? "").split(";")[0].trim());

// A control for one value; read() gives a list of texts.
function control(schemas, schema, given, isRequired, id) {
  const plain = schemas.merged(schema);
  const values = plain.enum ?? ([plain.type].flat().includes("boolean") ? [true, false] : null);
  if (values) {
    const options = values.map((value) => h("option", { value: String(value) }, String(value)));
    const select = h("select", { id }, isRequired ? null : h("option", { value: "" }, "—"), options);
    if (given !== undefined) select.value = String(given);
    return { element: select, read: () => (select.value === "" ? [] : [select.value]) };
  }
  if (plain.type === "array") {
    const area = h("textarea", { id, rows: 2, placeholder: "one a line" }, [given ?? []].flat().join("\n"));
    return { element: area, read: () => area.value.split("\n").filter((line) => line !== "") };
  }
  const isNumber = ["integer", "number"].includes([plain.type].flat()[0]);
  const hint = plain.default ?? (isRequired ? schemas.sample(schema, true) : "");
  const input = h("input", { id, type: "text", inputmode: isNumber ? "decimal" : "text", placeholder: String(hint ?? ""),
    required: isRequired, autocomplete: "off", spellcheck: "false" });
  if (given !== undefined) input.value = String(given);
  return { element: input, read: () => (input.value === "" ? [] : [input.value]) };
}

export class Call {
  // context: { schemas, base(), schemes, secrets, security }
  constructor(context, method, path, operation) {
    Object.assign(this, { context, method, path, operation });
    this.isSocket = operation["x-websocket"] === true;
    this.parameters = (operation.parameters ?? []).map((one) => {
      const parameter = context.schemas.resolve(one);
      return { ...parameter, isRest: parameter.in === "path" && /slashes/.test(parameter.description ?? "") };
    });
    const answers = Object.values(operation.responses ?? {}).map((answer) => context.schemas.resolve(answer));
    this.hasEvents = answers.some((answer) => answer.content?.["text/event-stream"]);
  }

  // The form and the place for what comes back.
  element() {
    this.output = h("div", { class: "output", role: "status", "aria-live": "polite" });
    this.curl = h("code", {});
    const send = h("button", { type: "submit", class: "primary" }, this.isSocket ? "Connect" : this.hasEvents ? "Listen" : "Send");
    this.stop = h("button", { type: "button", hidden: true, onclick: () => this.end() }, "Stop");
    const form = h("form", { class: "call", novalidate: true, oninput: () => this.showCurl() },
      this.fields(), this.bodyField(),
      h("div", { class: "buttons" }, send, this.stop),
      this.isSocket ? null : h("div", { class: "curl" }, h("pre", { tabindex: "0", "aria-label": "curl" }, this.curl),
        copyButton(() => this.curl.textContent)),
      this.output);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start(form);
    });
    this.showCurl();
    return form;
  }

  fields() {
    const { schemas } = this.context;
    this.controls = [];
    if (!this.parameters.length) return null;
    const rows = this.parameters.map((parameter) => {
      const id = newId("field");
      const schema = parameter.schema ?? {};
      const given = parameter.example ?? (parameter.required && parameter.in === "path" ? schemas.sample(schema, true) : undefined);
      const made = control(schemas, schema, given, parameter.required, id);
      this.controls.push(made);
      return h("div", { class: "field" },
        h("label", { for: id }, h("code", {}, parameter.name), h("span", { class: "quiet" }, ` ${parameter.in}`)), made.element);
    });
    return h("div", { class: "fields" }, rows);
  }

  bodyField() {
    const content = this.operation.requestBody?.content;
    if (!content) return null;
    const medias = Object.keys(content);
    const id = newId("media");
    this.media = h("select", { id, "aria-label": "Type of the body" }, medias.map((media) => h("option", {}, media)));
    const place = h("div", { class: "body" });
    const fill = () => {
      this.body = this.bodyFor(this.media.value, content[this.media.value].schema);
      place.replaceChildren(this.body.element);
    };
    this.media.addEventListener("change", fill);
    fill();
    return h("fieldset", {}, h("legend", {}, "Body"), medias.length > 1 ? this.media : h("span", { class: "quiet" }, medias[0]), place);
  }

  bodyFor(media, schema) {
    const { schemas } = this.context;
    const isParts = media === "multipart/form-data";
    const anyFile = { properties: { file: { type: "string", format: "binary" } } };
    const members = schema ? schemas.merged(schema) : isParts ? anyFile : null;
    if (/^(multipart\/form-data|application\/x-www-form-urlencoded)$/.test(media) && members?.properties) {
      return this.formBody(media, members);
    }
    if (isJson(media) || media.startsWith("text/")) {
      const given = schema ? schemas.sample(schema, true) : "";
      const text = isJson(media) ? JSON.stringify(given, null, 2) : String(given ?? "");
      const area = h("textarea", { "aria-label": "Body", spellcheck: "false", rows: Math.min(18, text.split("\n").length + 1) }, text);
      return { element: area, read: () => ({ media, data: area.value, shown: area.value }) };
    }
    const file = h("input", { type: "file", "aria-label": "File" });
    return { element: file, read: () => ({ media, data: file.files[0], shown: `@${file.files[0]?.name ?? "file"}` }) };
  }

  formBody(media, members) {
    const controls = Object.entries(members.properties).map(([name, schema]) => {
      const id = newId("form");
      const plain = this.context.schemas.merged(schema);
      const isMany = plain.type === "array";
      if ((isMany ? this.context.schemas.merged(plain.items) : plain).format === "binary") {
        const file = h("input", { type: "file", id, multiple: isMany });
        return { name, id, element: file, read: () => [...file.files] };
      }
      const isRequired = members.required?.includes(name);
      return { name, id, ...control(this.context.schemas, schema, isRequired ? this.context.schemas.sample(schema, true) : undefined, isRequired, id) };
    });
    const rows = controls.map((one) => h("div", { class: "field" }, h("label", { for: one.id }, h("code", {}, one.name)), one.element));
    const read = () => {
      const pairs = controls.flatMap((one) => one.read().map((value) => [one.name, value]));
      if (media.startsWith("multipart/")) {
        const data = new FormData();
        for (const [name, value] of pairs) data.append(name, value);
        return { data, shown: pairs.map(([name]) => name).join("&") };
      }
      const text = new URLSearchParams(pairs).toString();
      return { media, data: text, shown: text };
    };
    return { element: h("div", { class: "fields" }, rows), read };
  }

  request() {
    const { context } = this;
    this.bodyNow = this.body?.read();
    return makeRequest({
      base: context.base(), path: this.path, method: this.method, parameters: this.parameters,
      values: this.controls.map((one) => one.read()), body: this.bodyNow,
      security: this.operation.security ?? context.security, schemes: context.schemes, secrets: context.secrets,
    });
  }

  showCurl() {
    this.curl.textContent = curlLine(this.request(), this.bodyNow?.shown);
  }

  start(form) {
    const missing = [...form.querySelectorAll("[required]")].find((input) => input.value === "");
    if (missing) {
      missing.focus();
      this.output.replaceChildren(h("p", { class: "bad" }, "This value is needed."));
      return;
    }
    this.end();
    this.showCurl();
    if (this.isSocket) this.connect();
    else this.send();
  }

  end() {
    this.abort?.abort();
    this.socket?.close();
    this.stop.hidden = true;
  }

  async send() {
    const request = this.request();
    const abort = new AbortController();
    this.abort = abort;
    this.stop.hidden = false;
    this.output.replaceChildren(h("p", { class: "quiet" }, "Waiting …"));
    const began = performance.now();
    try {
      setCookies(request);
      const { method, url, headers, body } = request;
      const answer = await fetch(url, { method, headers, body, signal: abort.signal, cache: "no-store" });
      const took = performance.now() - began;
      if (mediaIs(answer.headers.get("Content-Type"), "text/event-stream")) await this.listen(answer, took);
      else await this.show(answer, took);
    } catch (error) {
      const why = abort.signal.aborted ? "Stopped." : `No answer: ${error.message}. Is it another origin, without CORS?`;
      this.output.append(h("p", { class: abort.signal.aborted ? "quiet" : "bad" }, why));
    } finally {
      if (this.abort === abort) this.stop.hidden = true;
    }
  }

  static head(answer, took, size) {
    const kind = answer.status < 300 ? "good" : answer.status < 400 ? "fair" : "bad";
    const fields = [...answer.headers].map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)));
    return [
      h("p", { class: "answer" }, h("b", { class: `status ${kind}` }, `${answer.status} ${answer.statusText}`),
        h("span", { class: "quiet" }, `${took.toFixed(0)} ms${size === undefined ? "" : `, ${size.toLocaleString("en")} bytes`}`)),
      h("details", {}, h("summary", {}, `${fields.length} fields`), h("table", {}, h("tbody", {}, fields))),
    ];
  }

  async show(answer, took) {
    const media = answer.headers.get("Content-Type") ?? "";
    const blob = await answer.blob();
    this.output.replaceChildren(...Call.head(answer, took, blob.size));
    if (blob.size === 0) return;
    if (media.startsWith("image/")) {
      const image = h("img", { alt: "The answer", src: URL.createObjectURL(blob) });
      this.output.append(image);
      return;
    }
    if (!isJson(media) && !/^(text\/|application\/(xml|javascript))/.test(media)) {
      this.output.append(h("a", { href: URL.createObjectURL(blob), download: "answer" }, "Save the answer"));
      return;
    }
    let text = (await blob.text()).slice(0, kShownMax);
    if (isJson(media)) {
      try {
        text = JSON.stringify(JSON.parse(text), null, 2);
      } catch { /* shown as it came */ }
      this.output.append(jsonCode(text));
    } else {
      this.output.append(h("pre", { tabindex: "0" }, h("code", {}, text)));
    }
  }

  log() {
    const list = h("ol", { class: "log", tabindex: "0", "aria-label": "What has come" });
    return { list, add: (kind, ...parts) => {
      list.append(h("li", { class: kind }, ...parts));
      if (list.children.length > kEventsMax) list.firstChild.remove();
      list.scrollTop = list.scrollHeight;
    } };
  }

  async listen(answer, took) {
    const { list, add } = this.log();
    this.output.replaceChildren(...Call.head(answer, took), list);
    await readEvents(answer.body, ({ event, id, data }) =>
      add("in", event ? h("b", {}, event) : null, id ? h("span", { class: "quiet" }, ` ${id} `) : null, h("code", {}, data)));
    this.output.append(h("p", { class: "quiet" }, "The stream has ended."));
  }

  connect() {
    const url = new URL(this.request().url, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const { list, add } = this.log();
    const text = h("input", { type: "text", "aria-label": "Message", placeholder: "A message", autocomplete: "off" });
    const write = h("button", { type: "button", disabled: true }, "Send message");
    const push = () => {
      if (this.socket.readyState !== WebSocket.OPEN) return;
      this.socket.send(text.value);
      add("out", h("code", {}, text.value));
      text.value = "";
    };
    write.addEventListener("click", push);
    text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      push();
    });
    this.output.replaceChildren(h("p", { class: "quiet" }, url.href), h("div", { class: "buttons" }, text, write), list);
    const socket = new WebSocket(url);
    this.socket = socket;
    this.stop.hidden = false;
    socket.addEventListener("open", () => {
      write.disabled = false;
      add("note", "open");
      text.focus();
    });
    socket.addEventListener("message", ({ data }) => add("in", h("code", {}, typeof data === "string" ? data : `${data.size} bytes`)));
    socket.addEventListener("close", ({ code, reason }) => {
      add("note", `closed, ${code}${reason ? ` ${reason}` : ""}`);
      write.disabled = true;
      if (this.socket === socket) this.stop.hidden = true;
    });
  }
}
