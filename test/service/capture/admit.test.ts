import { describe, expect, test } from "vitest";
import { SimError } from "../../../src/kernel/base/errors.ts";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { atOnce, itemsPerStep, type Work } from "../../../src/kernel/base/work.ts";
import { admitLegacy } from "../../../src/service/capture/admit-legacy.ts";
import { admitV1Batch, checkV1Envelope } from "../../../src/service/capture/admit-v1.ts";
import type { Item } from "../../../src/service/capture/item.ts";
import { futureTolerance } from "../../../src/service/capture/timestamp.ts";
import type { Dialect } from "../../../src/state/documents/dialect.ts";
import { legacyKey, v1Key } from "../../../src/state/journal/items.ts";

const at = Date.parse("2026-01-02T03:04:05.000Z");
const iso = (shift: number): string => new Date(at + shift).toISOString();

function refusalOf(act: () => unknown): { code: string; message: string; hint: string | undefined } {
  try {
    act();
  } catch (error) {
    if (error instanceof SimError) return { code: error.code, message: error.message, hint: error.extra.hint };
    throw error;
  }
  throw new Error("nothing was refused");
}

/** How many turns other calls may have. */
function turnsOf(work: Work<unknown>): number {
  let turns = 0;
  while (!work.next().done) turns++;
  return turns;
}

describe("an item of a legacy request", () => {
  const item: JsonObject = { event: "e", distinct_id: "u" };
  const read = (more: JsonObject, dialect: Dialect = "documented"): Item =>
    admitLegacy({ ...item, ...more }, 3, { dialect, at, sentAt: undefined });

  const untagged = "failed to parse request: data did not match any variant of untagged enum RawRequest";

  test.each<[field: string, value: Json, what: string]>([
    ["token", 1, "token is not a string"],
    ["$token", true, "$token is not a string"],
    ["api_key", {}, "api_key is not a string"],
    ["timestamp", 5, "timestamp is not a string"],
    ["offset", 1.5, "offset is not an integer"],
    ["offset", "1", "offset is not an integer"],
    ["$set", [], "$set is not an object"],
    ["$set_once", "x", "$set_once is not an object"],
    ["properties", null, "properties is not an object"],
    ["uuid", "x", "uuid is not a UUID"],
    ["uuid", 7, "uuid is not a UUID"],
  ])("whose %s is %j: the request is refused", (field, value, what) => {
    expect(refusalOf(() => read({ [field]: value }))).toEqual({
      code: "unparsable_payload",
      message: `${untagged}: item 3: ${what}`,
      hint: undefined,
    });
  });

  test.each(["token", "$token", "api_key", "timestamp", "offset", "$set", "$set_once", "uuid"])(
    "whose %s is null: as if it were absent",
    (field) => {
      expect(read({ [field]: null })).toEqual(read({}));
    },
  );

  test.each<[item: Json, reason: Item["dropped"], code: string, message: string]>([
    [5, "invalid_item", "unparsable_payload", untagged],
    [
      { distinct_id: "u" },
      "missing_event_name",
      "missing_event_name",
      "failed to hydrate events from request: non-engage request missing event name attribute",
    ],
    [
      { event: "", distinct_id: "u" },
      "empty_event_name",
      "empty_event_name",
      "event submitted with an empty event name",
    ],
    [{ event: "e" }, "missing_distinct_id", "missing_distinct_id", "event submitted without a distinct_id"],
  ])("%j is dropped by the contract, and refused by the live service", (raw, reason, code, message) => {
    const admit = (dialect: Dialect) => admitLegacy(raw, 0, { dialect, at, sentAt: undefined });
    expect(admit("documented").dropped).toBe(reason);
    expect(refusalOf(() => admit("production"))).toMatchObject({ code, message });
  });

  test.each<[value: Json, isRefused: boolean]>([
    [true, false],
    [false, false],
    ["true", true],
    [null, true],
  ])("with the cookieless mode %j, refused: %s", (value, isRefused) => {
    const act = () => read({ properties: { $cookieless_mode: value } });
    if (isRefused) expect(refusalOf(act).code).toBe("invalid_cookieless_mode");
    else expect(act().dropped).toBeUndefined();
  });

  test.each<[fields: JsonObject, id: string]>([
    [{ distinct_id: "a", $distinct_id: "b", properties: { distinct_id: "c" } }, "a"],
    [{ distinct_id: null, $distinct_id: "b", properties: { distinct_id: "c" } }, "b"],
    [{ distinct_id: null, $distinct_id: null, properties: { distinct_id: "c" } }, "c"],
    [{ distinct_id: null, properties: { distinct_id: "c" } }, "c"],
    [{ properties: { distinct_id: "c" } }, "c"],
    [{ distinct_id: "", properties: { distinct_id: "c" } }, ""],
    [{ distinct_id: 5 }, "5"],
    [{}, ""],
  ])("the distinct id of %j is %j", (fields, id) => {
    expect(legacyKey(fields)).toEqual({ event: "", distinct_id: id });
  });
});

describe("an item of capture v1", () => {
  const uuid = "0190aaaa-0000-7000-8000-000000000001";
  const item: JsonObject = { event: "e", uuid, distinct_id: "u", timestamp: iso(0) };
  const envelope = (more: JsonObject = {}): JsonObject => ({ created_at: iso(0), batch: [item], ...more });
  const check = (body: Json): void => atOnce(checkV1Envelope(body));
  const admit = (more: JsonObject, { sentAt = at, aiOnly = false } = {}): Item | undefined =>
    atOnce(admitV1Batch([{ ...item, ...more }], { at, sentAt, aiOnly }))[0];

  test.each<[body: Json, hint: string]>([
    [[], "the body is not an object"],
    [{ batch: [] }, "created_at is not a string"],
    [{ created_at: iso(0), batch: {} }, "batch is not an array"],
    [envelope({ historical_migration: null }), "historical_migration is not a boolean"],
    [envelope({ historical_migration: 1 }), "historical_migration is not a boolean"],
    [envelope({ capture_internal: 1 }), "capture_internal is not a boolean"],
    [envelope({ created_at: "x", batch: [item, 5] }), "batch[1] is not an object"],
    [envelope({ batch: [{ ...item, event: null }] }), "batch[0].event is not a string"],
    [envelope({ batch: [{ ...item, uuid: 5 }] }), "batch[0].uuid is not a string"],
    [envelope({ batch: [{ ...item, distinct_id: 5 }] }), "batch[0].distinct_id is not a string"],
    [envelope({ batch: [{ ...item, timestamp: 5 }] }), "batch[0].timestamp is not a string"],
    [envelope({ batch: [{ ...item, session_id: 5 }] }), "batch[0].session_id is not a string"],
    [envelope({ batch: [{ ...item, window_id: false }] }), "batch[0].window_id is not a string"],
  ])("%j: %s", (body, hint) => {
    expect(refusalOf(() => check(body))).toEqual({
      code: "request_parsing_error",
      message: "Failed to parse request body.",
      hint,
    });
  });

  test.each<[more: JsonObject]>([
    [{}],
    [{ historical_migration: true }],
    [{ historical_migration: false }],
    [{ capture_internal: null }],
    [{ capture_internal: true }],
    [{ batch: [{ ...item, session_id: null, window_id: null }] }],
    [{ batch: [{ ...item, session_id: "s", window_id: "w" }] }],
  ])("%j beside the rest is fine", (more) => {
    expect(() => check(envelope(more))).not.toThrow();
  });

  test.each([
    [{ batch: [] }, "empty_batch"],
    [{ created_at: "yesterday" }, "invalid_batch"],
    [{ created_at: "yesterday", batch: [] }, "empty_batch"],
  ])("%j is refused: %s", (more, code) => {
    expect(refusalOf(() => check(envelope(more))).code).toBe(code);
  });

  test.each<[name: string, more: JsonObject, dropped: Item["dropped"]]>([
    ["a name of 200 bytes", { event: "e".repeat(200) }, undefined],
    ["a name of 201 bytes", { event: "e".repeat(201) }, "event_name_too_long"],
    ["a name of 101 letters of two bytes", { event: "é".repeat(101) }, "event_name_too_long"],
    ["an id of 200 bytes", { distinct_id: "u".repeat(200) }, undefined],
    ["an id of 201 bytes", { distinct_id: "u".repeat(201) }, "distinct_id_too_large"],
  ])("%s", (_, more, dropped) => {
    const { event, distinct_id } = { ...item, ...more };
    expect(admit(more)).toMatchObject({ event, distinct_id, uuid, dropped });
  });

  test.each<[name: string, shift: number, lag: number, options: JsonObject, expected: number]>([
    ["as the sender's clock says", -1000, 0, {}, -1000],
    ["with the sender's lag", -1000, 500, {}, -500],
    ["without it where the event says so", -1000, 500, { disable_skew_correction: true }, -1000],
    ["as far in the future as is tolerated", futureTolerance, 0, {}, futureTolerance],
    ["further in the future: on arrival", futureTolerance + 1, 0, {}, 0],
  ])("its time: %s", (_, shift, lag, options, expected) => {
    const found = admit({ timestamp: iso(shift), options }, { sentAt: at - lag });
    expect((found?.time ?? Number.NaN) - at).toBe(expected);
  });

  test.each<[more: JsonObject, expected: Json | undefined]>([
    [{}, undefined],
    [{ properties: { $process_person_profile: false } }, false],
    [{ options: { process_person_profile: true } }, true],
    [{ properties: { $process_person_profile: false }, options: { process_person_profile: true } }, true],
    [{ properties: { $process_person_profile: true }, options: { process_person_profile: false } }, false],
  ])("with %j the person is processed: %j", (more, expected) => {
    expect(admit(more)?.processPerson).toBe(expected);
  });

  test("a placeholder id is kept with a warning, and only LLM events are for the lane of those", () => {
    expect(admit({ distinct_id: "anonymous" })).toMatchObject({
      placeholder: true,
      warnings: ["person_processing_disabled"],
    });
    expect(admit({})).toMatchObject({ placeholder: false, warnings: undefined });
    expect(admit({}, { aiOnly: true })).toMatchObject({ event: "e", dropped: "misrouted_event" });
    expect(admit({ event: "$ai_trace" }, { aiOnly: true })?.dropped).toBeUndefined();
  });

  test.each([
    [itemsPerStep - 1, 0],
    [itemsPerStep, 1],
    [2 * itemsPerStep + 1, 2],
  ])("a batch of %i leaves %i turns to other calls", (count, turns) => {
    const batch = Array.from({ length: count }, (_, i) => ({
      ...item,
      uuid: `0190aaaa-0000-7000-8000-${String(i).padStart(12, "0")}`,
    }));
    expect(turnsOf(checkV1Envelope(envelope({ batch })))).toBe(turns);
    expect(turnsOf(admitV1Batch(batch, { at, sentAt: at, aiOnly: false }))).toBe(turns);
  });

  test.each<[raw: JsonObject, event: string, distinct_id: string]>([
    [{ event: "e", distinct_id: " u " }, "e", "u"],
    [{ event: 5, distinct_id: null }, "", ""],
    [{}, "", ""],
  ])("the key of %j is %j and %j", (raw, event, distinct_id) => {
    expect(v1Key(raw)).toEqual({ event, distinct_id });
  });
});
