// Elements without markup in texts: whatever the document says stays text.

// h("a", { href: "#x", class: "y", onclick: f }, "text", child, null)
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

let last = 0;
export const newId = (prefix) => `${prefix}-${++last}`;

const kInline = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(((?:https?:\/\/|\/|#)[^)\s]*)\)/g;

function inline(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(kInline)) {
    parts.push(text.slice(at, match.index));
    const [whole, code, strong, soft, label, target] = match;
    if (code) parts.push(h("code", {}, code));
    else if (strong) parts.push(h("strong", {}, strong));
    else if (soft) parts.push(h("em", {}, soft));
    else parts.push(h("a", { href: target, rel: "noreferrer" }, label));
    at = match.index + whole.length;
  }
  return [...parts, text.slice(at)];
}

// The Markdown that descriptions are written in: paragraphs, lists, code, emphasis, links.
export function markdown(text) {
  if (!text) return null;
  const blocks = text.trim().split(/\n\s*\n/).map((block) => {
    if (block.startsWith("```")) return h("pre", {}, h("code", {}, block.replace(/^```[^\n]*\n?|```$/g, "")));
    const lines = block.split("\n");
    if (lines.every((line) => /^\s*[-*] /.test(line))) {
      return h("ul", {}, lines.map((line) => h("li", {}, inline(line.replace(/^\s*[-*] /, "")))));
    }
    const heading = /^(#{1,4}) (.*)$/.exec(block);
    return heading ? h("h4", {}, inline(heading[2])) : h("p", {}, inline(block));
  });
  return h("div", { class: "prose" }, blocks);
}

const kToken = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;
const kHighlightMax = 200000;

// JSON with colours.
export function jsonCode(text) {
  const code = h("code", {});
  if (text.length > kHighlightMax) {
    code.append(text);
    return h("pre", { tabindex: "0" }, code);
  }
  let at = 0;
  for (const match of text.matchAll(kToken)) {
    code.append(text.slice(at, match.index));
    const [whole, string, colon, number] = match;
    const kind = string ? (colon ? "key" : "string") : number ? "number" : "word";
    code.append(h("span", { class: `t-${kind}` }, string ?? whole));
    if (colon) code.append(colon);
    at = match.index + whole.length;
  }
  code.append(text.slice(at));
  return h("pre", { tabindex: "0" }, code);
}

// A button that copies what `text` gives, and says so.
export function copyButton(text, label = "Copy") {
  const button = h("button", { type: "button", class: "small" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Cannot copy here";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}
