import { describe, expect, test } from "vitest";
import { z } from "zod";
import { firstInvalid } from "../../../src/service/api-frame/fields.ts";
import {
  boolean,
  choice,
  datetime,
  dictionary,
  integer,
  json,
  list,
  numberChoice,
  text,
  uuid,
} from "../../../src/state/documents/lenient-fields.ts";

/** What a body with this value in the field `it` becomes, or what the service says of it. */
function read(field: z.ZodType, body: object): unknown {
  const result = z.object({ it: field }).safeParse(body, { reportInput: true });
  if (result.success) return { value: result.data.it };
  const { code, message, extra } = firstInvalid(result.error);
  return { code, detail: message, attr: extra.attr };
}
const says = (code: string, detail: string, attr = "it") => ({ code, detail, attr });
const id = "0190F1F8-AAAA-7BBB-8CCC-123456789012";

const fields = {
  text: text(),
  short: text({ max: 3 }),
  blank: text({ blank: true }),
  integer: integer(),
  ranged: integer({ min: 1, max: 500 }),
  boolean: boolean(),
  choice: choice(["a", "b"]),
  level: numberChoice([21, 37]),
  uuid: uuid(),
  datetime: datetime(),
  texts: list(text()),
  numbers: list(integer()),
  dictionary: dictionary(),
  json: json(),
  nested: z.object({ type: text(), options: z.object({ size: integer() }).optional() }),
};

test.each(Object.entries(fields))("%s: absent and null are distinguished", (name, field) => {
  expect(read(field, {})).toEqual(says("required", "This field is required."));
  if (name !== "json") expect(read(field, { it: null })).toEqual(says("null", "This field may not be null."));
  expect(read(field.optional(), {})).toEqual({ value: undefined });
  expect(read(field.nullable(), { it: null })).toEqual({ value: null });
});

describe("what is read leniently", () => {
  test.each([
    ["text", " a ", "a"],
    ["text", 5, "5"],
    ["text", 1.5, "1.5"],
    ["short", " abc ", "abc"],
    ["blank", "", ""],
    ["blank", "  ", ""],
    ["integer", 7, 7],
    ["integer", "7", 7],
    ["integer", " -7 ", -7],
    ["integer", "7.0", 7],
    ["integer", 7.0, 7],
    ["ranged", "500", 500],
    ["choice", "b", "b"],
    ["level", 37, 37],
    ["level", "37", 37],
    ["uuid", id, id.toLowerCase()],
    ["uuid", id.replaceAll("-", ""), id.toLowerCase()],
    ["datetime", "2026-03-04T05:06+01:00", "2026-03-04T04:06:00Z"],
    ["texts", ["a", 1], ["a", "1"]],
    ["texts", [], []],
    ["dictionary", {}, {}],
    ["dictionary", { a: [1, { b: null }] }, { a: [1, { b: null }] }],
    ["json", null, null],
    ["json", [1, "a", { b: false }], [1, "a", { b: false }]],
    ["nested", { type: 5, unknown: 1 }, { type: "5" }],
  ] as const)("%s: %j is %j", (name, value, expected) => {
    expect(read(fields[name], { it: value })).toEqual({ value: expected });
  });

  test.each([
    [true, ["t", "T", "y", "yes", "YES", "true", "True", "on", "1", " true ", 1, true]],
    [false, ["f", "F", "n", "no", "NO", "false", "False", "off", "0", 0, false]],
  ])("booleans: %s", (expected, spellings) => {
    for (const it of spellings) expect(read(fields.boolean, { it })).toEqual({ value: expected });
  });
});

const noString = says("invalid_input", "Not a valid string.");
const noInteger = says("invalid_input", "A valid integer is required.");
const noBoolean = says("invalid_input", "Must be a valid boolean.");
const noUuid = says("invalid_input", "Must be a valid UUID.");
const noTime = says(
  "invalid_input",
  "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].",
);
const noList = (type: string) => says("not_a_list", `Expected a list of items but got type "${type}".`);
const noDictionary = (type: string) => says("not_a_dict", `Expected a dictionary of items but got type "${type}".`);
const noChoice = (value: string) => says("invalid_choice", `"${value}" is not a valid choice.`);

test.each([
  ["text", true, noString],
  ["text", [], noString],
  ["text", {}, noString],
  ["text", "", says("blank", "This field may not be blank.")],
  ["text", "  ", says("blank", "This field may not be blank.")],
  ["short", "abcd", says("max_length", "Ensure this field has no more than 3 characters.")],
  ["integer", "x", noInteger],
  ["integer", "", noInteger],
  ["integer", 1.5, noInteger],
  ["integer", "1.5", noInteger],
  ["integer", true, noInteger],
  ["integer", [], noInteger],
  ["ranged", 0, says("min_value", "Ensure this value is greater than or equal to 1.")],
  ["ranged", 501, says("max_value", "Ensure this value is less than or equal to 500.")],
  ["boolean", "maybe", noBoolean],
  ["boolean", 2, noBoolean],
  ["boolean", [], noBoolean],
  ["choice", "c", noChoice("c")],
  ["choice", 5, noChoice("5")],
  ["level", 99, noChoice("99")],
  ["level", "x", noChoice("x")],
  ["uuid", "x", noUuid],
  ["uuid", 5, noUuid],
  ["datetime", "soon", noTime],
  ["datetime", "2026-03-04", noTime],
  ["datetime", 5, noTime],
  ["texts", "a", noList("str")],
  ["texts", {}, noList("dict")],
  ["texts", 5, noList("int")],
  ["texts", ["a", true], says("invalid_input", "Not a valid string.", "it__1")],
  ["numbers", [1, "x"], says("invalid_input", "A valid integer is required.", "it__1")],
  ["dictionary", [], noDictionary("list")],
  ["dictionary", "a", noDictionary("str")],
  ["dictionary", 1.5, noDictionary("float")],
  ["dictionary", true, noDictionary("bool")],
  ["nested", [], says("invalid_input", "Invalid data. Expected a dictionary, but got list.")],
  ["nested", {}, says("required", "This field is required.", "it__type")],
  [
    "nested",
    { type: "a", options: { size: "x" } },
    says("invalid_input", "A valid integer is required.", "it__options__size"),
  ],
] as const)("%s: %j is refused", (name, value, expected) => {
  expect(read(fields[name], { it: value })).toEqual(expected);
});

test("the first field that is wrong is reported, in the schema's order", () => {
  const schema = z.object({ a: text(), b: integer(), c: boolean() });
  const result = schema.safeParse({ c: "x", b: "x", a: "ok" }, { reportInput: true });
  expect(result.error && firstInvalid(result.error).extra.attr).toBe("b");
});
