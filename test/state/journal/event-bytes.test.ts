import { expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import type { EventFacts } from "../../../src/state/journal/event.ts";
import { createEventBytesReader, type EventValue } from "../../../src/state/journal/event-bytes.ts";
import { legacyKey, v1Key } from "../../../src/state/journal/items.ts";
import { keptProperty, keysOf } from "../../../src/state/journal/show.ts";
import type { TrafficLine } from "../../../src/state/journal/traffic.ts";

const names = [
  ...["plan", "$ip", "$set", "$set_once", "$lib", "$session_id", "$group_0", "$geoip_city_name"],
  ...["$process_person_profile", "distinct_id", "naïve", 'a"b', "constructor", "x".repeat(300)],
];

/** A line, with the text of its body as it was sent. */
function lineText(body: string | undefined, facts: readonly EventFacts[], more: Partial<TrafficLine> = {}) {
  const head = {
    ...{ n: 1, at: 5, method: "POST", target: "/batch/", peer: "10.0.0.7", status: 200, us: 1, project: 1 },
    ...more,
    ...{ seq: 7, events: facts, headers: ["X-Forwarded-For", "1.2.3.4", "PostHog-Sdk-Info", "sdk/1"] },
  };
  const text = JSON.stringify(head);
  return body === undefined ? text : `${text.slice(0, -1)},"body":${body}}`;
}

const usual = (i = 0): EventFacts => ({ uuid: `u${i}`, time: 1000 + i, person: `person ${i}` });

/** The values that a reader finds, as the journal stores them. */
function valuesIn(text: string, seqs: readonly number[]) {
  const found: Json[] = [];
  const bytes = Buffer.from(text);
  const read = ({ from, to, made }: EventValue): Json | undefined => {
    if (made) return made.value;
    return from === to ? undefined : JSON.parse(bytes.toString("utf8", from, to));
  };
  const reader = createEventBytesReader(names);
  const steps = reader.read({ bytes, seqs }, (it) => {
    const sent = { event: read(it.name) ?? null, distinct_id: read(it.id) ?? null };
    const key = it.shape === "v1" ? v1Key(sent) : legacyKey(sent);
    found.push({
      ...{ seq: it.seq, time: it.time, person: read(it.person) ?? null },
      ...{ event: key.event, id: key.distinct_id },
      properties: names.map((_, k) => read(it.properties[k] as EventValue) ?? "missing"),
    });
  });
  for (const _ of steps);
  return found;
}

/** The same by parsing the line. */
function parsedValues(text: string) {
  const line = JSON.parse(text) as TrafficLine;
  return line.events?.map((facts, i) => ({
    ...{ seq: 7 + i, time: facts.time, person: facts.person },
    ...{ event: keysOf(line)[i]?.event, id: keysOf(line)[i]?.distinct_id },
    properties: names.map((name) => keptProperty(line, i, name) ?? "missing"),
  }));
}

const rich =
  '{"event":"a","distinct_id":"u","properties":{"plan":{"x":[1,"]}"]},"$ip":"","$lib":"web","$set":{"plan":1},"naïve":"ü😀","$session_id":"s","$group_0":"sent","$geoip_city_name":"sent"}}';

test.each<[string, string | undefined, Partial<EventFacts>?, Partial<TrafficLine>?]>([
  ["an array", `[${rich}]`],
  ["a batch", `{"api_key":"k","batch":[${rich}],"sent_at":"now"}`],
  ["a batch whose key comes later", `{"batch":[${rich}],"event":"no batch","token":"k"}`],
  ["an event with a field batch", `{"event":"e","distinct_id":"u","batch":[${rich}],"properties":{"plan":1}}`],
  ["a batch that is given twice", `{"token":"k","batch":[{"event":"old"}],"batch":[${rich}]}`],
  ["a key that is null, and a token", `{"api_key":null,"token":"k","batch":[${rich}],"event":"e"}`],
  ["a key that is no text", `{"api_key":5,"token":"k","batch":[${rich}],"event":"e","distinct_id":"x"}`],
  ["an escaped key of the batch", `{"api_key":"k","b\\u0061tch":[${rich}]}`],
  ["one event", rich],
  ["blanks", ` {\n "api_key" : "k" ,\t"batch" : [ ${rich.replaceAll(",", " , ").replaceAll(":", " : ")} ] } `],
  ["an escaped property", `[{"event":"a","distinct_id":"u","properties":{"pl\\u0061n":"x","a\\"b":2}}]`],
  ["an escaped field", `[{"\\u0065vent":"a","distinct_id":"u","properties":{"plan":"x"}}]`],
  [
    "members that are given twice",
    `[{"event":"a","event":"b","distinct_id":"u","distinct_id":null,"$distinct_id":"v","properties":{"plan":1,"plan":2}}]`,
  ],
  [
    "properties that are given twice",
    `[{"event":"a","properties":{"plan":1,"distinct_id":"x"},"properties":{"naïve":1}}]`,
  ],
  ["properties that are no object", `[{"event":"a","distinct_id":"u","properties":{"plan":1},"properties":[1]}]`],
  ["the id in the properties", `[{"event":"a","properties":{"distinct_id":" p "}}]`],
  ["an id that is no text", `[{"event":"a","distinct_id":{"x":[1]},"properties":{"distinct_id":"p"}}]`],
  ["a blank id", `[{"event":"a","distinct_id":"  ","properties":{"distinct_id":"p"}}]`],
  ["long texts", `[{"event":"${"e".repeat(300)}","distinct_id":"${"u".repeat(300)}","properties":{}}]`],
  ["a name that is no text", `[{"event":5,"distinct_id":"u"}]`],
  ["escapes in values", `[{"event":"a\\"\\\\","distinct_id":"\\u00fc","properties":{"plan":"\\\\\\"plan\\":1"}}]`],
  ["a long name of a property", `[{"event":"a","distinct_id":"u","properties":{"${"x".repeat(300)}":1}}]`],
  ["a person's properties", `[{"event":"a","distinct_id":"u","$set":{"a":1},"properties":{"$browser":"x"}}]`],
  ["/engage without a name", `{"distinct_id":"u","$set":{"a":1}}`, {}, { target: "/engage/?x" }],
  ["no body", undefined],
  ["an item that is no object", `["x"]`],
  ["an empty array", "[]"],
  ["groups", `[${rich}]`, { groups: { "0": "acme" } }],
  ["a place", `[${rich}]`, { place: { city_name: "Berlin" } as EventFacts["place"] & object }],
  ["added properties", `[${rich}]`, { adds: { plan: null, $lib: "added" }, groups: { "0": "acme" } }],
  ["removed properties", `[${rich}]`, { strips: ["plan", "$set"], adds: { $set: 1 } }],
  ["a personless event", `[${rich}]`, { mode: "propertyless", person: "synthetic" }],
  ["no person", `[${rich}]`, { person: null }],
  ["a time before 1970", `[${rich}]`, { time: -5 }],
  [
    "v1",
    `{"batch":[{"event":"a","distinct_id":" u ","session_id":"S","options":{"process_person_profile":"0"},"properties":{"plan":1,"$lib":"own"}}]}`,
    {},
    { shape: "v1" },
  ],
  [
    "v1 with other ids",
    `{"batch":[{"event":"a","distinct_id":5,"$distinct_id":"x","properties":{"distinct_id":"y"}}]}`,
    {},
    { shape: "v1" },
  ],
  ["v1 without a batch", `{"event":"a","distinct_id":"u"}`, {}, { shape: "v1" }],
])("values of %s", (_, body, facts = {}, more = {}) => {
  const text = lineText(body, [{ ...usual(), ...facts }], more);
  expect(valuesIn(text, [7])).toEqual(parsedValues(text));
});

test("values of some events of a batch, in a line with a checksum", () => {
  const items = Array.from({ length: 200 }, (_, i) => ({
    event: `e${i}`,
    distinct_id: `u${i}`,
    properties: { plan: i },
  }));
  const facts = items.map((_, i): EventFacts => (i % 3 === 0 ? { ...usual(i), warnings: [] } : usual(i)));
  const text = lineText(JSON.stringify({ api_key: "k", batch: items }), facts).replace("{", '{"crc":"00000000",');
  const seqs = [8, 9, 77, 206];
  expect(valuesIn(text, seqs)).toEqual(parsedValues(text)?.filter((it) => seqs.includes(it.seq)));
});

test("a line of recordings has no events of queries", () => {
  expect(valuesIn(lineText(`[${rich}]`, [usual()], { shape: "recording" }), [7])).toEqual([]);
});
