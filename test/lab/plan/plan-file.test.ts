import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats, { type FormatName } from "ajv-formats";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { formats, planSchema, planSchemaText, schemaFrom } from "../../../src/lab/plan/plan-schema.ts";
import { contentOf } from "../../../src/lab/plan/read-plan.ts";
import { checkEvents, findPlan, PlanError, type PlanFile, planFrom, readPlan } from "../../../src/plan.ts";
import { newFolder } from "../../support/folder.ts";
import { event } from "./events.ts";

const folder = newFolder();

const published = join(import.meta.dirname, "../../../docs/reference/plan.schema.json");
if (process.env.UPDATE_SCHEMA === "1") writeFileSync(published, planSchemaText());

test("the published schema is the one that plans are checked with: UPDATE_SCHEMA=1 writes it", () => {
  expect(JSON.parse(readFileSync(published, "utf8"))).toEqual(planSchema);
});

test.each(formats)("the format %s is checked", (format) => {
  expect(addFormats.default.get(format as FormatName)).toBeDefined();
});

const full: PlanFile = {
  $schema: "./node_modules/phx-sim/docs/reference/plan.schema.json",
  version: 1,
  title: "Shop",
  description: "All of it.",
  unplanned: "ignore",
  $defs: { tier: ["free", "pro"], money: { type: "number", minimum: 0, multipleOf: 0.01 } },
  events: {
    signed_up: {
      description: "An account was made.",
      properties: {
        plan: { $ref: "#/$defs/tier", description: "What was chosen" },
        seats: "integer|null",
        at: "date-time",
        tags: "string[]",
        any: true,
        address: { type: "object", properties: { city: "string" }, required: ["city"] },
        code: { type: "string", pattern: "^[A-Z]+$", minLength: 2 },
      },
      required: ["plan"],
      additionalProperties: false,
    },
    paid: { anyOf: [{ required: ["amount"] }, { required: ["voucher"] }], minProperties: 1 },
    opened: {},
  },
};

describe("editors and the checker agree", () => {
  const validate = addFormats.default(new Ajv({ strict: false })).compile(planSchema);
  const plan = (part: object): object => ({ version: 1, events: { a: part } });

  test.each<[string, object, boolean]>([
    ["everything that a plan can say", full, true],
    ["no events", { version: 1, events: {} }, true],
    ["nothing", {}, false],
    ["another version", { version: 2, events: {} }, false],
    ["an unknown key", { version: 1, events: {}, colour: 1 }, false],
    ["an event that is a word", { version: 1, events: { a: "string" } }, false],
    ["an unknown word", plan({ properties: { x: "text" } }), false],
    ["no allowed value", plan({ properties: { x: [] } }), false],
    ["a number as a property", plan({ properties: { x: 3 } }), false],
    ["an unknown keyword", plan({ properties: { x: { minimun: 1 } } }), false],
    ["an unknown format", plan({ properties: { x: { format: "datetime" } } }), false],
    ["a pattern that is none", plan({ properties: { x: { pattern: "[" } } }), false],
    ["a reference elsewhere", plan({ properties: { x: { $ref: "https://example.com/x" } } }), false],
    ["a list of an event", plan({ type: "array" }), false],
  ])("%s", async (_, value, isRight) => {
    expect(validate(value)).toBe(isRight);
    const outcome = await contentOf(JSON.stringify(value)).then(
      () => true,
      (error: unknown) => !(error instanceof PlanError),
    );
    expect(outcome).toBe(isRight);
  });
});

test.each<[unknown, object]>([
  ["string", { type: "string" }],
  ["any", {}],
  ["uuid", { type: "string", format: "uuid" }],
  ["integer|null", { type: ["integer", "null"] }],
  ["integer|integer", { type: ["integer"] }],
  ["number[]", { type: "array", items: { type: "number" } }],
  ["uuid|null", { anyOf: [{ type: "string", format: "uuid" }, { type: "null" }] }],
  [["a", 1, null], { enum: ["a", 1, null] }],
  [{ items: "date" }, { items: { type: "string", format: "date" } }],
  [{ anyOf: ["string", ["a"]] }, { anyOf: [{ type: "string" }, { enum: ["a"] }] }],
  [{ enum: ["string"] }, { enum: ["string"] }],
  [{ properties: { items: "string" } }, { properties: { items: { type: "string" } } }],
])("in short: %j", (short, schema) => {
  expect(schemaFrom(short as JsonObject)).toEqual(schema);
});

const problemsOf = (text: string): Promise<string> =>
  contentOf(text, join(process.cwd(), "a.plan.json")).then(
    () => "none",
    (error: Error) => error.message,
  );

describe("what is wrong is reported with its place", () => {
  const inA = (properties: string, rest = "") =>
    `{ "version": 1, "events": { "a": { "properties": { ${properties} }${rest} } } }`;

  test.each<[string, string]>([
    ["", "a.plan.json:1:1: the file is empty"],
    ['{ "version": 1 "events": {} }', "a.plan.json:1:16: expected a comma before this"],
    ['{\n  "version": 1,\n  "ev', 'a.plan.json:3:3: expected " at the end of the string, in the same line'],
    ["[]", "a.plan.json:1:1: expected an object, got []"],
    ["null", "a.plan.json:1:1: expected an object, got null"],
    ["[".repeat(50_000), "a.plan.json:1:1: nested too deeply"],
    [`${'{"a":'.repeat(70)}1${"}".repeat(70)}`, "a.plan.json:1:1: nested too deeply"],
    ['{ "version": 1 }', 'a.plan.json:1:1: "events" is missing'],
    [
      '{ "version": 1, "event": {} }',
      'a.plan.json:1:1: "events" is missing; there is "event"\n' +
        'a.plan.json:1:17 /event: unknown key "event"; did you mean "events"?',
    ],
    ['{ "version": "1", "events": {} }', 'a.plan.json:1:14 /version: expected 1, got "1"; number as a string'],
    [
      '{ "version": 1, "events": {}, "unplanned": "eror" }',
      'a.plan.json:1:44 /unplanned: expected "error" or "ignore", got "eror"; did you mean "error"?',
    ],
    ['{ "version": 1, "events": { "a": {}, "a": {} } }', "a.plan.json:1:38 /events/a: duplicate key"],
    [
      '{ "version": 1, "events": { "__proto__": {} } }',
      'a.plan.json:1:29 /events/__proto__: "__proto__" cannot be a name',
    ],
    [
      inA('"x": "strng"'),
      "a.plan.json:1:57 /events/a/properties/x: expected a type's word such as string, integer|null or " +
        'uuid[], got "strng"; did you mean "string"?',
    ],
    [inA('"x": []'), "a.plan.json:1:57 /events/a/properties/x: expected at least 1 item, got []"],
    [
      inA('"x": { "type": "sting" }'),
      'a.plan.json:1:67 /events/a/properties/x/type: expected "string", "number", "integer", "boolean", ' +
        '"object", "array" or "null", got "sting"; did you mean "string"?',
    ],
    [
      inA('"x": { "minimun": 1 }'),
      'a.plan.json:1:59 /events/a/properties/x/minimun: unknown key "minimun"; did you mean "minimum"?',
    ],
    [
      inA('"x": { "pattern": "[" }'),
      'a.plan.json:1:70 /events/a/properties/x/pattern: expected a regular expression, got "["',
    ],
    [
      inA('"x": { "$ref": "#/$defs/y" }'),
      'a.plan.json:1:67 /events/a/properties/x/$ref: there is no "y" in the plan\'s $defs',
    ],
    [
      inA('"plan": "string"', ', "required": ["plann"]'),
      'a.plan.json:1:85 /events/a/required/0: "plann" is required, but not among the properties; ' +
        'did you mean "plan"?',
    ],
    [
      inA('"x": "string"', ', "required": "x"'),
      'a.plan.json:1:81 /events/a/required: expected a list, got "x"; not in a list',
    ],
  ])("%s", async (text, problems) => {
    expect(await problemsOf(text)).toBe(problems);
  });

  test("everything at once, in order, comments or not", async () => {
    const text = `{
  // What we capture.
  "version": 1,
  "events": {
    "a": { "propertys": {} }, /* and */
    "b": { "required": [1], "properties": { "x": 5 } },
  },
}`;
    expect(await problemsOf(text)).toBe(
      [
        'a.plan.json:5:12 /events/a/propertys: unknown key "propertys"; did you mean "properties"?',
        "a.plan.json:6:25 /events/b/required/0: expected a string, got 1; number instead of a string",
        "a.plan.json:6:50 /events/b/properties/x: expected an object, a string, a list or true or false, got 5",
      ].join("\n"),
    );
  });

  test("very many are counted, and nothing in them moves a cursor", async () => {
    const events = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`\u001b[2J${i}`, 1]));
    const text = await problemsOf(JSON.stringify({ version: 1, events }));
    expect(text.split("\n").at(-1)).toBe("and 30 more");
    expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });
});

describe("files", () => {
  test("are found in the folders above", async () => {
    const below = join(folder, "a/b");
    mkdirSync(below, { recursive: true });
    mkdirSync(join(below, "events.plan.json"));
    expect(await findPlan(below)).toBeUndefined();
    writeFileSync(join(folder, "events.plan.json"), '\ufeff{ "version": 1, "title": "T", "events": { "a": {} } }');
    const file = await findPlan(below);
    expect(file).toBe(join(folder, "events.plan.json"));
    expect(await readPlan(file ?? "")).toMatchObject({ file, title: "T", unplanned: "error" });
  });

  test.each([
    ["nowhere.json", "there is no such file"],
    [".", "it is a folder"],
  ])("%s cannot be read", async (name, reason) => {
    const file = join(folder, name);
    await expect(readPlan(file)).rejects.toMatchObject({
      problems: [{ file, line: null, column: null, message: `cannot be read: ${reason}` }],
    });
  });
});

test("content that a program made is looked at when it is used", async () => {
  const plan = planFrom({ version: 1, events: { a: { properties: { x: "strng" } } } });
  await expect(checkEvents(plan, [event(1, "a")])).rejects.toThrow(
    'plan /events/a/properties/x: expected a type\'s word such as string, integer|null or uuid[], got "strng"; ' +
      'did you mean "string"?',
  );
});

test("a definition that refers to itself without end is reported, not suffered", async () => {
  const loop = planFrom({
    version: 1,
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
    events: { e: { properties: { x: { $ref: "#/$defs/a" } } } },
  });
  await expect(checkEvents(loop, [event(1, "e", { x: 1 })])).rejects.toThrow(PlanError);
});
