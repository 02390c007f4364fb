// The page: reads the document that lies beside it and shows its operations.
import { h, markdown, newId } from "./dom.js";
import { Schemas } from "./schema.js";
import { Call } from "./call.js";

const kMethods = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];
const kThemes = ["auto", "light", "dark"];
const find = (id) => document.getElementById(id);

// --- light and dark

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  find("theme").textContent = { auto: "Auto", light: "Light", dark: "Dark" }[theme];
  find("theme").setAttribute("aria-label", `Colours: ${theme}`);
  find("theme").title = "Colours of the page";
  try {
    localStorage.setItem("violet-docs-theme", theme);
  } catch { /* then it is not kept */ }
}

function startTheme() {
  let theme = "auto";
  try {
    theme = kThemes.includes(localStorage.getItem("violet-docs-theme")) ? localStorage.getItem("violet-docs-theme") : "auto";
  } catch { /* the default */ }
  setTheme(theme);
  find("theme").addEventListener("click", () => {
    theme = kThemes[(kThemes.indexOf(theme) + 1) % kThemes.length];
    setTheme(theme);
  });
}

// --- operations

function operationsOf(spec) {
  const all = [];
  for (const [path, item] of Object.entries(spec.paths ?? {})) {
    for (const method of kMethods) {
      const operation = item[method];
      if (!operation) continue;
      const isSocket = operation["x-websocket"] === true;
      const tags = operation.tags ?? [];
      const label = isSocket ? "WS" : method === "delete" ? "DEL" : method.toUpperCase();
      const text = [method, path, operation.summary, operation.description, operation.operationId, ...tags].join(" ");
      all.push({ path, method, operation, tags, label, kind: isSocket ? "ws" : method, text: text.toLowerCase(),
        id: operation.operationId ?? `${method}${path}` });
    }
  }
  return all;
}

function groupsOf(spec, operations) {
  const groups = new Map((spec.tags ?? []).map((tag) => [tag.name, { name: tag.name, about: tag.description, operations: [] }]));
  // What has no tag stands with what begins alike, or with what stands alone.
  const firstOf = (one) => one.path.split("/").find((segment) => segment && !segment.startsWith("{")) ?? "/";
  const isAlone = (one) => operations.every((each) => each === one || each.tags.length || firstOf(each) !== firstOf(one));
  for (const one of operations) {
    const name = one.tags[0] ?? (isAlone(one) ? "Operations" : firstOf(one));
    if (!groups.has(name)) groups.set(name, { name, operations: [] });
    groups.get(name).operations.push(one);
  }
  return [...groups.values()].filter((group) => group.operations.length);
}

const badge = (one) => h("span", { class: `method ${one.kind}` }, one.label);

// "/users/{id}" with its parameters set apart; it may break after slashes.
const pathCode = (path) => h("code", { class: "path" }, path.split(/(\{[^}]+\})|(?<=\/)/).filter(Boolean)
  .map((part) => (part.startsWith("{") ? h("span", { class: "parameter" }, part) : [part, h("wbr")])));

// --- one operation

function parametersTable(schemas, operation) {
  const parameters = (operation.parameters ?? []).map((one) => schemas.resolve(one));
  if (!parameters.length) return null;
  return h("section", {}, h("h4", {}, "Parameters"), h("div", { class: "schema" }, parameters.map((one) => {
    const row = schemas.row(one.name, one.schema ?? {}, one.required, one.description);
    const line = row.querySelector(".line");
    line.insertBefore(h("span", { class: "place" }, one.in), line.children[1] ?? null);
    return row;
  })));
}

function contents(schemas, content, isInput) {
  return Object.entries(content ?? {}).map(([media, { schema }]) => {
    const isShown = schema && /json|form/.test(media);
    return h("div", {}, h("p", { class: "quiet media" }, media), schema ? schemas.show(schema) : null,
      isShown ? h("details", { class: "example" }, h("summary", {}, "Example"), schemas.sampleCode(schema, isInput)) : null);
  });
}

function bodySection(schemas, operation) {
  const body = operation.requestBody;
  if (!body) return null;
  return h("section", {}, h("h4", {}, "Body ", body.required ? h("span", { class: "required" }, "required") : null),
    markdown(body.description), contents(schemas, body.content, true));
}

function answersSection(schemas, operation) {
  const rows = Object.entries(operation.responses ?? {}).map(([status, given]) => {
    const answer = schemas.resolve(given);
    const kind = /^[12]/.test(status) ? "good" : /^3/.test(status) ? "fair" : status === "default" ? "any" : "bad";
    const line = [h("b", { class: `status ${kind}` }, status), h("span", {}, answer.description)];
    const fields = Object.keys(answer.headers ?? {});
    const inside = contents(schemas, answer.content, false);
    if (!inside.length && !fields.length) return h("div", { class: "reply" }, h("div", { class: "line" }, line));
    const details = h("details", { class: "reply", open: kind === "good" }, h("summary", { class: "line" }, line));
    if (fields.length) details.append(h("p", { class: "quiet media" }, `Fields: ${fields.join(", ")}`));
    details.append(...inside);
    return details;
  });
  return h("section", {}, h("h4", {}, "Answers"), rows);
}

function card(context, one) {
  const { operation, method, path } = one;
  const summary = h("summary", {}, badge(one), pathCode(path),
    operation.summary ? h("span", { class: "what" }, operation.summary) : null,
    operation.deprecated ? h("span", { class: "flag" }, "deprecated") : null,
    (operation.security ?? context.security ?? []).length ? h("span", { class: "lock", title: "Wants credentials" }, "locked") : null);
  const details = h("details", { class: `card${operation.deprecated ? " old" : ""}`, id: one.id }, summary);
  const fill = () => {
    if (!details.open || details.children.length > 1) return;
    const heading = newId("try");
    details.append(h("div", { class: "inside" },
      h("div", { class: "about" }, markdown(operation.description), parametersTable(context.schemas, operation),
        bodySection(context.schemas, operation), answersSection(context.schemas, operation)),
      h("section", { class: "try", "aria-labelledby": heading }, h("h4", { id: heading }, "Try it"),
        new Call(context, method, path, operation).element())));
  };
  details.addEventListener("toggle", fill);
  one.card = details;
  one.open = () => {
    details.open = true;
    fill();
  };
  return details;
}

// --- the page

function serverSelect(spec) {
  const here = location.origin;
  const urls = (spec.servers ?? []).map((server) => new URL(server.url, location.href).href.replace(/\/$/, ""));
  if (urls.length < 2) return { element: null, base: () => urls[0] ?? here };
  const id = newId("server");
  const select = h("select", { id }, urls.map((url, i) => h("option", { value: url }, spec.servers[i].description ? `${url} · ${spec.servers[i].description}` : url)));
  return { element: h("p", { class: "server" }, h("label", { for: id }, "Server "), select), base: () => select.value };
}

function credentials(schemes, secrets) {
  const names = Object.keys(schemes);
  if (!names.length) return null;
  const rows = names.map((name) => {
    const id = newId("secret");
    const scheme = schemes[name];
    const what = scheme.type === "http" ? (scheme.scheme === "basic" ? "name:password" : "token") : `${scheme.in} ${scheme.name}`;
    const input = h("input", { id, type: "password", placeholder: what, autocomplete: "off",
      oninput: () => secrets.set(name, input.value) });
    return h("div", { class: "field" }, h("label", { for: id }, h("code", {}, name), h("span", { class: "quiet" }, ` ${scheme.description ?? what}`)), input);
  });
  return h("details", { class: "credentials" }, h("summary", {}, "Credentials"),
    h("p", { class: "quiet" }, "Kept by this page until it is left, and sent with what asks for them."), h("div", { class: "fields" }, rows));
}

function sideList(groups) {
  return groups.map((group) => {
    const items = group.operations.map((one) => {
      one.link = h("li", {}, h("a", { href: `#${encodeURIComponent(one.id)}` }, badge(one),
        h("span", { class: "label" }, one.operation.summary ?? one.path)));
      return one.link;
    });
    group.side = h("section", {}, h("h2", {}, group.name), h("ul", {}, items));
    return group.side;
  });
}

function show(spec) {
  document.title = spec.info.title;
  find("name").textContent = spec.info.title;
  find("version").textContent = spec.info.version;
  const schemas = new Schemas(spec);
  const server = serverSelect(spec);
  const context = { schemas, base: server.base, schemes: spec.components?.securitySchemes ?? {}, secrets: new Map(), security: spec.security };
  const operations = operationsOf(spec);
  const groups = groupsOf(spec, operations);
  find("side").replaceChildren(...sideList(groups));
  const intro = h("div", { class: "intro" }, h("h1", {}, spec.info.title), markdown(spec.info.description), server.element,
    credentials(context.schemes, context.secrets));
  const none = h("p", { class: "quiet", id: "none", hidden: true, role: "status" }, "Nothing is found.");
  for (const group of groups) {
    group.section = h("section", { class: "group" }, h("h2", {}, group.name), markdown(group.about),
      group.operations.map((one) => card(context, one)));
  }
  find("content").replaceChildren(intro, none, ...groups.map((group) => group.section));
  startSearch(groups, none);
  startLinks(operations);
}

function startSearch(groups, none) {
  const search = find("search");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const group of groups) {
      let inGroup = 0;
      for (const one of group.operations) {
        const is = words.every((word) => one.text.includes(word));
        one.link.hidden = one.card.hidden = !is;
        inGroup += is;
      }
      group.side.hidden = group.section.hidden = inGroup === 0;
      found += inGroup;
    }
    none.hidden = found > 0;
  };
  search.addEventListener("input", filter);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    search.value = "";
    filter();
    search.blur();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    search.focus();
  });
}

function startLinks(operations) {
  const go = () => {
    const one = operations.find((each) => each.id === decodeURIComponent(location.hash.slice(1)));
    for (const each of operations) each.link.firstChild.removeAttribute("aria-current");
    if (!one) return;
    one.link.firstChild.setAttribute("aria-current", "true");
    one.open();
    one.card.scrollIntoView({ block: "start" });
    toggleMenu(false);
  };
  window.addEventListener("hashchange", go);
  // A link to where one is already opens it again.
  for (const one of operations) one.link.addEventListener("click", () => { if (location.hash.slice(1) === encodeURIComponent(one.id)) go(); });
  go();
}

function toggleMenu(isOpen) {
  document.body.classList.toggle("with-menu", isOpen);
  find("menu").setAttribute("aria-expanded", String(isOpen));
}

async function start() {
  startTheme();
  find("menu").addEventListener("click", () => toggleMenu(!document.body.classList.contains("with-menu")));
  try {
    const answer = await fetch(find("document").href);
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
    show(await answer.json());
  } catch (error) {
    find("state").textContent = `The document cannot be read: ${error.message}`;
    find("state").className = "bad";
    throw error;
  }
}

start();
