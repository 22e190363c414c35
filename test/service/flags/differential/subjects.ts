import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { fc } from "../../../support/chance.ts";
import { defined } from "./arbitraries.ts";
import { properties } from "./properties.ts";

/** By index; there is no fourth. */
export const groupTypes = ["company", "team", "project"] as const;

/** The users that flags are requested for. */
export interface Who {
  readonly distinctId: string;
  /** Their uuid, by which static cohorts list them. */
  readonly personId: string;
  readonly properties: JsonObject;
  /** Group type → key and properties. */
  readonly groups: Readonly<Record<string, { readonly key: string; readonly properties: JsonObject }>>;
}

/** Subjects carry the uuids that end in 0–9; a static cohort lists some. */
export const personIdOf = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;

const distinctId = fc.oneof(
  { arbitrary: fc.uuid({ version: 4 }), weight: 20 },
  { arbitrary: fc.nat(99_999).map(String), weight: 8 },
  { arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }), weight: 10 },
  { arbitrary: fc.constantFrom("Jürgen@bücher.example", "用户-42", "🦔", " ", "\ud800"), weight: 4 },
  { arbitrary: fc.constant(""), weight: 1 },
);

const group = fc.record({
  key: fc.oneof(
    { arbitrary: fc.constantFrom("acme", "42", "Ünïcode"), weight: 9 },
    { arbitrary: fc.uuid(), weight: 9 },
    { arbitrary: fc.constant(""), weight: 1 },
  ),
  properties,
});

/** What only some subjects have: a device, a choice about an early access feature. */
const more = fc
  .record({
    $device_id: fc.oneof({ arbitrary: fc.uuid(), weight: 3 }, { arbitrary: fc.constantFrom("", undefined), weight: 1 }),
    "$feature_enrollment/flag-0": fc.oneof(
      { arbitrary: fc.constant(undefined), weight: 4 },
      { arbitrary: fc.constantFrom<Json>(true, "false"), weight: 1 },
    ),
  })
  .map(defined);

export const who: fc.Arbitrary<Who> = fc
  .record({
    distinctId,
    personId: fc.nat(9).map(personIdOf),
    properties,
    more,
    groups: fc.dictionary(fc.constantFrom(...groupTypes, "planet"), group, { maxKeys: 4, size: "max" }),
  })
  .map(({ more, ...rest }) => ({ ...rest, properties: { ...rest.properties, ...more } }));
