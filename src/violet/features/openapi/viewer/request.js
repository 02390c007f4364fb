// Requests: from what was typed into a form to what fetch() and curl take.

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// Credentials that the page was given, as fields, query pairs and cookies of one operation.
function authorize(security, schemes, secrets, request) {
  const usable = (security ?? []).find((names) => Object.keys(names).every((name) => secrets.get(name)));
  for (const name of Object.keys(usable ?? {})) {
    const scheme = schemes[name] ?? {};
    const secret = secrets.get(name);
    if (scheme.type === "http" && scheme.scheme === "basic") request.headers.Authorization = `Basic ${btoa(secret)}`;
    else if (scheme.type === "http") request.headers.Authorization = `Bearer ${secret}`;
    else if (scheme.in === "header") request.headers[scheme.name] = secret;
    else if (scheme.in === "query") request.query.push([scheme.name, secret]);
    else request.cookies.push([scheme.name, secret]);
  }
}

// `values` has, for each parameter, a list of texts; empty: it is left out.
export function makeRequest({ base, path, method, parameters, values, body, security, schemes, secrets }) {
  const request = { method: method.toUpperCase(), headers: {}, query: [], cookies: [], body: body?.data };
  let target = path;
  parameters.forEach((parameter, i) => {
    for (const value of values[i]) {
      const place = parameter.in;
      if (place === "query") request.query.push([parameter.name, value]);
      else if (place === "header") request.headers[parameter.name] = value;
      else if (place === "cookie") request.cookies.push([parameter.name, value]);
      else {
        // A rest of the path keeps its slashes.
        const encoded = encodeURIComponent(value);
        target = target.replace(`{${parameter.name}}`, parameter.isRest ? encoded.replaceAll("%2F", "/") : encoded);
      }
    }
  });
  authorize(security, schemes, secrets, request);
  const query = new URLSearchParams(request.query).toString();
  request.url = base.replace(/\/$/, "") + target + (query ? `?${query}` : "");
  if (body?.media) request.headers["Content-Type"] = body.media;
  return request;
}

export function curlLine(request, shownBody) {
  const parts = ["curl"];
  if (request.method !== "GET") parts.push(`-X ${request.method}`);
  parts.push(quote(request.url));
  for (const [name, value] of Object.entries(request.headers)) parts.push(`-H ${quote(`${name}: ${value}`)}`);
  if (request.cookies.length) parts.push(`-b ${quote(request.cookies.map((pair) => pair.join("=")).join("; "))}`);
  if (shownBody !== undefined) parts.push(shownBody.startsWith("@") ? `--data-binary ${shownBody}` : `--data-raw ${quote(shownBody)}`);
  return parts.join(" \\\n  ");
}

// A page may not set the Cookie field; its own cookies it may.
export function setCookies(request) {
  for (const [name, value] of request.cookies) document.cookie = `${name}=${value}; path=/; SameSite=Strict`;
}

// The events of a text/event-stream as they come: calls on({ event, data, id }).
export async function readEvents(stream, on) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = {};
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r\n|\n|\r/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (event.data !== undefined) on(event);
        event = {};
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      event[name] = name === "data" && event.data !== undefined ? `${event.data}\n${text}` : text;
    }
  }
}
