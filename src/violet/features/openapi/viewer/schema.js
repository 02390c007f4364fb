// Schemas: how they are shown, and values that fit them.
import { h, jsonCode, markdown } from "./dom.js";

const kDepthMax = 6;

// A text that an expression of the usual kind matches: literals, classes, groups, repetitions. null: it is another kind.
export function sampleOfPattern(pattern) {
  let at = 0;
  const classes = { d: "1", w: "a", s: " " };
  function one() {
    const c = pattern[at++];
    if (c === "\\") {
      const escaped = pattern[at++];
      return classes[escaped] ?? escaped;
    }
    if (c === ".") return "a";
    if (c === "[") {
      const end = pattern.indexOf("]", at + 1);
      const first = pattern[at] === "\\" ? classes[pattern[at + 1]] ?? pattern[at + 1] : pattern[at];
      at = end + 1;
      return first;
    }
    if (c === "(") {
      if (pattern.startsWith("?:", at)) at += 2;
      const text = several();
      ++at;
      return text;
    }
    return c === "^" || c === "$" ? "" : c;
  }
  function repeated(text) {
    const times = /^(?:[?*+]|\{(\d+)(?:,\d*)?\})\??/.exec(pattern.slice(at));
    if (!times) return text;
    at += times[0].length;
    if (times[1] !== undefined) return text.repeat(Number(times[1]));
    return times[0][0] === "+" ? text : "";
  }
  function several() {
    let text = "";
    while (at < pattern.length && pattern[at] !== ")" && pattern[at] !== "|") text += repeated(one());
    let depth = 0;
    // Other branches.
    while (pattern[at] === "|" || (at < pattern.length && depth > 0) || (pattern[at] && pattern[at] !== ")")) {
      depth += { "(": 1, ")": -1 }[pattern[at]] ?? 0;
      if (depth < 0) break;
      ++at;
    }
    return text;
  }
  try {
    const text = several();
    return new RegExp(pattern, "u").test(text) ? text : null;
  } catch {
    return null;
  }
}

export class Schemas {
  constructor(document) {
    this.document = document;
  }

  // What a "$ref" stands for, with what stands beside it.
  resolve(value) {
    for (let i = 0; value?.$ref && i < 20; ++i) {
      const { $ref, ...beside } = value;
      const target = $ref.split("/").slice(1)
        .reduce((at, part) => at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], this.document);
      value = { ...target, ...beside };
    }
    return value ?? {};
  }

  // allOf as one object.
  merged(schema) {
    const { allOf, ...own } = this.resolve(schema);
    if (!allOf) return own;
    return allOf.map((part) => this.merged(part)).reduce((all, part) => ({
      ...all, ...part,
      properties: { ...all.properties, ...part.properties },
      required: [...(all.required ?? []), ...(part.required ?? [])],
    }), own);
  }

  static nameOf(ref) {
    return ref.split("/").pop();
  }

  typeText(schema) {
    if (schema.$ref) return Schemas.nameOf(schema.$ref);
    if (schema.allOf) return schema.allOf.map((one) => this.typeText(one)).join(" & ");
    const many = schema.oneOf ?? schema.anyOf;
    if (schema.discriminator?.mapping) return Object.keys(schema.discriminator.mapping).join(" | ");
    if (many) return many.map((one) => this.typeText(one)).join(" | ");
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    const types = [schema.type ?? "any"].flat();
    return types.map((type) => {
      if (type === "array") return `list of ${this.typeText(schema.items ?? {})}`;
      if (type === "object" && schema.additionalProperties) return `map of ${this.typeText(schema.additionalProperties)}`;
      return schema.format && type !== "null" ? `${type} · ${schema.format}` : type;
    }).join(" | ");
  }

  // What else has to hold, as short texts.
  static facts(schema) {
    const facts = [];
    const range = (low, high, what) => {
      if (low === undefined && high === undefined) return;
      const noun = what && ` ${what}${(high ?? low) === 1 ? "" : "s"}`;
      if (low === high) facts.push(`${low}${noun}`);
      else if (low !== undefined && high !== undefined) facts.push(`${low} to ${high}${noun}`);
      else facts.push(low !== undefined ? `at least ${low}${noun}` : `at most ${high}${noun}`);
    };
    range(schema.minLength, schema.maxLength, "character");
    range(schema.minItems, schema.maxItems, "item");
    range(schema.minimum, schema.maximum, "");
    if (schema.pattern) facts.push(`matches ${schema.pattern}`);
    if (schema.uniqueItems) facts.push("no two are equal");
    if (schema.$comment) facts.push(schema.$comment);
    if (schema.writeOnly) facts.push("never in answers");
    if (schema.default !== undefined) facts.push(`default ${JSON.stringify(schema.default)}`);
    return facts;
  }

  // The schema that has members, behind lists, null and references; null when there is none.
  inner(schema) {
    const one = this.merged(schema);
    if (one.properties) return one;
    if (one.items) return this.inner(one.items);
    if (one.additionalProperties) return this.inner(one.additionalProperties);
    const many = (one.anyOf ?? one.oneOf ?? []).filter((each) => each.type !== "null");
    return many.length === 1 ? this.inner(many[0]) : null;
  }

  // One line for a value, and what is in it on demand: types may hold themselves.
  row(name, schema, isRequired, note, typeText = this.typeText(schema)) {
    const plain = this.merged(schema);
    const head = [
      name === null ? null : h("code", { class: "member" }, name),
      h("span", { class: "type" }, typeText),
      isRequired ? h("span", { class: "required" }, "required") : null,
      plain.deprecated ? h("span", { class: "flag" }, "deprecated") : null,
      Schemas.facts(plain).map((fact) => h("span", { class: "fact" }, fact)),
    ];
    const values = plain.enum ?? this.merged(plain.items ?? {}).enum;
    const more = [
      markdown(note ?? schema.description ?? plain.description),
      values ? h("div", { class: "values" }, values.map((value) => h("code", {}, String(value)))) : null,
    ];
    const many = (plain.oneOf ?? plain.anyOf ?? []).filter((each) => each.type !== "null");
    const names = Object.keys(plain.discriminator?.mapping ?? {});
    const inside = many.length > 1 ? () => many.map((each, i) => this.row(null, each, false, undefined, names[i])) : this.members(schema);
    if (!inside) return h("div", { class: "row" }, h("div", { class: "line" }, head), more);
    const details = h("details", { class: "row" }, h("summary", { class: "line" }, head), more);
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector(".nest")) details.append(h("div", { class: "nest" }, inside()));
    });
    return details;
  }

  members(schema) {
    const inner = this.inner(schema);
    if (!inner) return null;
    return () => Object.entries(inner.properties)
      .map(([name, one]) => this.row(name, one, inner.required?.includes(name)));
  }

  // A schema as its reader sees it: its members at once, everything below on demand.
  show(schema) {
    const members = this.members(schema);
    const title = h("div", { class: "line" }, h("span", { class: "type" }, this.typeText(schema)));
    if (!members) return h("div", { class: "schema" }, this.row(null, schema, false));
    return h("div", { class: "schema" }, title, markdown(this.merged(schema).description), members());
  }

  // A value that fits, for requests (isInput) or for answers.
  sample(schema, isInput, depth = 0) {
    const one = this.merged(schema);
    if (one.example !== undefined) return one.example;
    if (one.examples?.length) return one.examples[0];
    if (one.default !== undefined) return one.default;
    if (one.const !== undefined) return one.const;
    if (one.enum) return one.enum[0];
    const many = (one.oneOf ?? one.anyOf ?? []).filter((each) => each.type !== "null");
    if (many.length) return this.sample(many[0], isInput, depth);
    const type = [one.type].flat().find((each) => each !== "null");
    if (type === "array") {
      if (depth >= kDepthMax) return [];
      return Array.from({ length: Math.max(1, one.minItems ?? 1) }, () => this.sample(one.items ?? {}, isInput, depth + 1));
    }
    if (type === "object") return this.sampleObject(one, isInput, depth);
    return Schemas.sampleScalar(one, type);
  }

  sampleObject(schema, isInput, depth) {
    if (depth >= kDepthMax) return {};
    const value = {};
    for (const [name, one] of Object.entries(schema.properties ?? {})) {
      if (this.merged(one).writeOnly && !isInput) continue;
      value[name] = this.sample(one, isInput, depth + 1);
    }
    if (schema.additionalProperties) value.key = this.sample(schema.additionalProperties, isInput, depth + 1);
    return value;
  }

  static sampleScalar(schema, type) {
    if (type === "boolean") return true;
    if (type === "integer" || type === "number") return schema.minimum ?? (schema.maximum < 1 ? schema.maximum : 1);
    if (type !== "string") return null;
    const byFormat = {
      "date-time": "2026-01-31T12:30:00Z", date: "2026-01-31", email: "ada@example.org", uri: "https://example.org/",
      uuid: "123e4567-e89b-42d3-a456-426614174000", byte: "dmlvbGV0", ipv4: "192.0.2.1", password: "secret",
    };
    const text = (schema.pattern && sampleOfPattern(schema.pattern)) || (byFormat[schema.format] ?? "text");
    return text.padEnd(schema.minLength ?? 0, "x").slice(0, Math.max(schema.maxLength ?? text.length, schema.minLength ?? 0));
  }

  // The sample as code.
  sampleCode(schema, isInput) {
    return jsonCode(JSON.stringify(this.sample(schema, isInput), null, 2));
  }
}
