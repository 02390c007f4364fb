// node validate.mjs FILE...: each has to be a valid OpenAPI 3.1 document, and stop being one when it is damaged.
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";

async function check(document) {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(document);
  return { isGood: valid && validator.version === "3.1", errors };
}

// What a validator that sees nothing would let pass.
const damages = {
  "without info": (document) => { delete document.info; },
  "with a parameter that stands nowhere": (document) => { Object.values(document.paths)[0].get = { parameters: [{ name: "x" }], responses: {} }; },
  "with an answer that is not described": (document) => { Object.values(document.paths)[0].get = { responses: { 200: {} } }; },
};

let failed = 0;
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, "utf8");
  const { isGood, errors } = await check(JSON.parse(text));
  console.log(`${file}: ${isGood ? "valid" : JSON.stringify(errors, null, 1)}`);
  failed += !isGood;
  for (const [what, damage] of Object.entries(damages)) {
    const document = JSON.parse(text);
    damage(document);
    if (!(await check(document)).isGood) continue;
    console.log(`${file} ${what} passes for valid`);
    ++failed;
  }
}
process.exit(failed ? 1 : 0);
