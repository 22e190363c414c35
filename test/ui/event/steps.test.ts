import { describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import type { Json } from "../../../src/kernel/base/json.ts";
import type { LintFinding } from "../../../src/lab/lint/shapes.ts";
import { dropReasons, warnings } from "../../../src/state/journal/drop-reasons.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { decodeChain } from "../../../ui/api/requests.ts";
import { explained } from "../../../ui/parts/text.ts";
import {
  findingsFor,
  personSteps,
  placeIn,
  rawItem,
  type ShownRequest,
  sendableItem,
  senderOf,
  skewOf,
} from "../../../ui/views/event/event-facts.ts";

const event = (changes: Partial<StoredEvent> = {}): StoredEvent => ({
  seq: 2,
  outcome: "kept",
  reason: null,
  detail: null,
  warnings: [],
  project: 1,
  uuid: null,
  event: "x",
  distinct_id: "u",
  timestamp: "2026-01-01T00:00:00.000Z",
  received_at: "2026-01-01T00:00:01.500Z",
  person_id: null,
  person_mode: "full",
  properties: {},
  request: 9,
  ...changes,
});

const request = (changes: Partial<ShownRequest> = {}): ShownRequest => ({
  n: 9,
  at: "2026-01-01T00:00:01.500Z",
  method: "POST",
  target: "/batch/",
  status: 200,
  ms: 1,
  source: null,
  fault: null,
  peer: "127.0.0.1",
  headers: [["Content-Type", "text/plain; charset=utf-8"]],
  decode_steps: ["gzip"],
  raw: null,
  body: { batch: [{ event: "a" }, { event: "x" }] },
  carried: [{ seq: 1 }, { seq: 2 }],
  ...changes,
});

test.each([...Object.keys(dropReasons), ...Object.keys(warnings)])("%s is explained", (code) => {
  const { sentence, fix } = explained(code);
  expect([sentence, fix]).not.toContain("");
  expect(sentence).not.toBe(code);
});

test.each(["constructor", "__proto__", "new_code"])("the unknown code %s says itself", (code) => {
  expect(explained(code)).toEqual({ sentence: code, fix: "" });
});

describe("the way in", () => {
  test.each<[Partial<ShownRequest>, string[]]>([
    [{}, ["text/plain", "gzip", "JSON"]],
    [{ headers: [], decode_steps: [] }, ["no content type", "JSON"]],
    [
      { headers: [["content-type", "application/x-www-form-urlencoded"]], decode_steps: ["form", "base64"] },
      ["application/x-www-form-urlencoded", "form field", "base64", "JSON"],
    ],
    [{ body: null }, ["text/plain", "gzip", "JSON"]],
  ])("%j: %j", (changes, chain) => {
    expect(decodeChain(request(changes))).toEqual(chain);
  });

  test.each<[string, Json, Json | undefined]>([
    ["a batch", { batch: [1, { event: "x" }] }, { event: "x" }],
    ["a list", [{ event: "a" }, { event: "x" }], { event: "x" }],
    ["gone", null, undefined],
    ["of another count", [{ event: "a" }], undefined],
  ])("the item of %s", (_, body, item) => {
    expect(rawItem(event(), request({ body }))).toEqual(item);
  });

  test.each([
    ["/batch/", true],
    ["/e/?ip=1", true],
    ["/i/v0/e/", true],
    ["/i/v1/analytics/events", false],
    ["/engage/", false],
  ])("an item of %s can be sent to /batch/: %s", (target, can) => {
    expect(sendableItem(event(), request({ target })) !== undefined).toBe(can);
  });

  test.each<[Partial<StoredEvent>, Partial<ShownRequest>, string | undefined]>([
    [{ properties: { $lib: "web", $lib_version: "1.2" } }, {}, "web 1.2"],
    [{ properties: { $lib: "web" } }, {}, "web"],
    [{ properties: { $lib: 1 } }, { headers: [["User-Agent", "curl/8"]] }, "curl/8"],
    [{}, {}, undefined],
  ])("the sender of %j", (changes, asked, sender) => {
    expect(senderOf(event(changes), request(asked))).toBe(sender);
  });

  test("as a real sim reports it", async () => {
    await using sim = await startSim();
    const item = { event: "x", distinct_id: "u1", properties: { a: 1 } };
    await fetch(`${sim.url}/batch/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ api_key: sim.apiKey, batch: [{ event: "first", distinct_id: "u1" }, item] }),
    });
    const get = async <T>(path: string) => (await (await fetch(`${sim.url}/__sim/${path}`)).json()) as T;
    const shown = await get<StoredEvent>("events/2");
    const asked = await get<ShownRequest>(`requests/${shown.request}`);
    expect(placeIn(shown, asked)).toBe(1);
    expect(rawItem(shown, asked)).toEqual(item);
    expect(decodeChain(asked)).toEqual(["application/json", "JSON"]);
  });
});

test.each<[Partial<StoredEvent>, string[]]>([
  [{}, []],
  [
    { event: "$identify", properties: { $anon_distinct_id: "anon", $set: { plan: "pro" } } },
    ["merge anon", "set plan"],
  ],
  [{ event: "$create_alias", properties: { alias: "other" } }, ["merge other"]],
  [{ event: "x", properties: { alias: "no merge", $anon_distinct_id: "neither" } }, []],
  [
    { properties: { $set_once: { first: 1 }, $unset: ["gone", 5], $groups: { company: "acme" } } },
    ["set once first", "unset gone", "group company"],
  ],
  [{ outcome: "dropped", properties: { $set: { plan: "pro" } } }, []],
  [{ event: "constructor", properties: { $set: ["no object"] } }, []],
])("personSteps(%j)", (changes, steps) => {
  expect(personSteps(event(changes)).map(({ does, name }) => `${does} ${name}`)).toEqual(steps);
});

const finding = (changes: Partial<LintFinding>): LintFinding => ({
  code: "property_type_flip",
  severity: "warning",
  sentence: "s",
  fix: "f",
  project: 1,
  event: "y",
  detail: "",
  first_seq: 50,
  last_seq: 60,
  count: 2,
  n: 5,
  ...changes,
});

test.each<[Partial<LintFinding>, boolean]>([
  [{}, false],
  [{ event: "x" }, true],
  [{ event: "x", project: 2 }, false],
  [{ last_seq: 2 }, true],
  [{ event: null, n: 9 }, true],
  [{ event: null, n: 8 }, false],
])("the finding %j concerns the event: %s", (changes, does) => {
  expect(findingsFor(event(), [finding(changes)])).toHaveLength(does ? 1 : 0);
});

test("its own findings come first", () => {
  const found = findingsFor(event(), [finding({ event: "x" }), finding({ event: "x", first_seq: 2 })]);
  expect(found.map((it) => it.first_seq)).toEqual([2, 50]);
});

test("skew is the event's time against its arrival", () => {
  expect(skewOf(event())).toBe(-1_500);
});
