import { describe, expect, test } from "vitest";
import {
  isMistake,
  type OverrideForm,
  readObject,
  readOverride,
  readPayload,
  readSubject,
  valueChoices,
} from "../../../ui/views/flags/forms.ts";

describe("an object", () => {
  test.each([
    ["", undefined],
    ["  \n", undefined],
    ["{}", {}],
    ['{"plan":"pro"}', { plan: "pro" }],
  ])("%j is %j", (text, value) => {
    expect(readObject(text)).toEqual({ value });
  });

  test.each(["{", "[1]", "null", '"text"', "5"])("%j is a mistake", (text) => {
    expect(isMistake(readObject(text))).toBe(true);
  });
});

test.each([
  ["", null],
  ["null", null],
  ["[1]", [1]],
  ['"text"', "text"],
])("the payload %j is %j", (text, value) => {
  expect(readPayload(text)).toEqual({ value });
});

test.each([
  [[], ["true", "false"]],
  [
    ["a", "true"],
    ["a", "true", true, false],
  ],
] as const)("of a flag with the variants %j one chooses", (variants, values) => {
  const choices = valueChoices(variants);
  expect(choices.map(({ value }) => value)).toEqual(variants.length === 0 ? [true, false] : values);
  expect(new Set(choices.map(({ id }) => id)).size).toBe(choices.length);
});

const form: OverrideForm = { choice: "true", other: "", distinctId: "", payload: "" };
const overrides: [string, Partial<OverrideForm>, object][] = [
  ["for everyone", {}, { body: { value: true } }],
  ["for someone", { distinctId: "anna" }, { body: { value: true, distinct_id: "anna" } }],
  ["a variant", { choice: "variant-0" }, { body: { value: "a" } }],
  ["with a payload", { payload: '{"a":1}' }, { body: { value: true, payload: { a: 1 } } }],
  ["another variant", { choice: "other", other: "z" }, { body: { value: "z", force: true } }],
  ["nothing chosen", { choice: "" }, { mistakes: { choice: "Choose a value" } }],
  ["a variant that is gone", { choice: "variant-7" }, { mistakes: { choice: "Choose a value" } }],
  ["no name", { choice: "other" }, { mistakes: { other: "Enter the variant's key" } }],
  [
    "off, with a payload",
    { choice: "false", payload: "1" },
    { mistakes: { payload: "A flag that is off has no payload" } },
  ],
  ["no JSON", { payload: "{a:1}" }, { mistakes: { payload: expect.stringContaining("not JSON") } }],
];
test.each(overrides)("an override, %s", (_, change, expected) => {
  expect(readOverride({ ...form, ...change }, ["a"])).toEqual(expected);
});

const subjects: [string, Record<string, string>, object | undefined][] = [
  ["nobody", {}, undefined],
  ["an id", { distinct_id: "anna", tab: "explain" }, { body: { distinct_id: "anna" } }],
  [
    "all there is",
    {
      distinct_id: "anna",
      person: '{"a":1}',
      groups: '{"company":"acme"}',
      group_properties: "{}",
      device_id: "d",
      anon_distinct_id: "x",
    },
    {
      body: {
        distinct_id: "anna",
        person: { a: 1 },
        groups: { company: "acme" },
        group_properties: {},
        device_id: "d",
        anon_distinct_id: "x",
      },
    },
  ],
  [
    "mistakes",
    { distinct_id: "anna", person: "{", groups: "[]" },
    { mistakes: { person: expect.any(String), groups: expect.any(String) } },
  ],
];
test.each(subjects)("of the address one reads %s", (_, params, expected) => {
  expect(readSubject(params)).toEqual(expected);
});
