import { deflateSync, gzipSync } from "node:zlib";
import lz from "lz-string";
import { describe, expect, test } from "vitest";
import { keysOf } from "../../../../src/state/journal/show.ts";
import { fc } from "../../../support/chance.ts";
import { key, openEdge, type Sent } from "../edge.ts";

const rows = openEdge("production").endpoints.filter(({ journaled }) => journaled !== false);
const targets = rows.flatMap(({ path, methods }) => methods.map((method) => ({ path, method })));

const names = fc.constantFrom(
  ..."event distinct_id $distinct_id uuid token api_key properties timestamp offset batch sent_at $set $set_once".split(
    " ",
  ),
  ..."$unset $groups $group_type $group_key $group_set alias $anon_distinct_id $process_person_profile".split(" "),
  ..."$session_id $snapshot_data $cookieless_mode options created_at __proto__ constructor toString".split(" "),
);
const events = fc.constantFrom(
  ..."$identify $create_alias $merge_dangerously $groupidentify $set $snapshot $exception $ai_trace e".split(" "),
);

/** JSON that looks like what SDKs send, with anything in any place. */
const { value: anyJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(key, "u", "v", "2026-01-01T00:00:00Z", "", null, true, 5, "018f3b6e-0000-7000-8000-000000000001"),
    fc.string({ unit: "binary" }),
    fc.double(),
    events,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 8, noNullPrototype: true }),
  ),
}));

const anyProperties = fc.dictionary(names, anyJson, { maxKeys: 8, noNullPrototype: true });
const ids = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("u", "v", "w", "anonymous") },
  { weight: 1, arbitrary: anyJson },
);

/** An item that gets past the first checks more often than not. */
const likelyItem = fc.record(
  {
    event: fc.oneof({ weight: 6, arbitrary: events }, { weight: 1, arbitrary: anyJson }),
    distinct_id: ids,
    properties: anyProperties,
    uuid: fc.uuid(),
    timestamp: fc.oneof(fc.string(), fc.constant("2026-06-01T00:00:00Z")),
    options: anyJson,
    $set: anyProperties,
  },
  { requiredKeys: ["event", "distinct_id", "uuid", "timestamp"], noNullPrototype: true },
);

const likely = fc.oneof(
  likelyItem.map((item) => ({ api_key: key, ...item })),
  fc.array(likelyItem, { maxLength: 4 }).map((batch) => ({ api_key: key, created_at: "2026-01-01T00:00:00Z", batch })),
);

const text = fc.oneof(
  { weight: 6, arbitrary: likely.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: anyJson.map((value) => JSON.stringify(value) ?? "") },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);

const wrappings: ((body: Buffer) => Buffer)[] = [
  (body) => body,
  (body) => gzipSync(body),
  (body) => deflateSync(body),
  (body) => Buffer.from(body.toString("base64")),
  (body) => Buffer.from(lz.compressToBase64(body.toString())),
  (body) => Buffer.from(`data=${encodeURIComponent(body.toString("base64"))}`),
  (body) => body.subarray(0, body.length / 2),
  (body) => Buffer.concat([body, body]),
];

const body = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(text, fc.oneof(fc.constant([]), fc.array(fc.constantFrom(...wrappings), { maxLength: 2 })))
      .map(([inner, wraps]) => wraps.reduce<Buffer>((bytes, wrap) => wrap(bytes), Buffer.from(inner))),
  },
);

const usual = {
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
  "posthog-sdk-info": "fuzz/1",
  "posthog-attempt": "1",
  "posthog-request-id": "018f3b6e-0000-7000-8000-000000000001",
  "posthog-request-timestamp": "2026-07-01T12:00:00Z",
  "user-agent": "fuzz/1",
};

/** The usual headers, with some of them replaced. */
const headers = fc
  .oneof(
    fc.constant({}),
    fc.record(
      {
        "content-type": fc.constantFrom(
          "text/plain",
          "application/x-www-form-urlencoded",
          "multipart/form-data; boundary=b",
        ),
        "content-encoding": fc.constantFrom("gzip", "deflate", "br", "zstd", "lz64", "base64", "x"),
        authorization: fc.constantFrom("Bearer", "x"),
        "posthog-sdk-info": fc.string(),
        "posthog-attempt": fc.string(),
        "posthog-request-id": fc.string(),
        "x-forwarded-for": fc.string(),
      },
      { requiredKeys: [] },
    ),
  )
  .map((some) => ({ ...usual, ...some }));

const query = fc.oneof(
  fc.constant(""),
  fc.constant(""),
  fc
    .record(
      {
        compression: fc.constantFrom("gzip", "gzip-js", "lz64", "base64", "x"),
        data: fc.oneof(text, fc.string()),
        beacon: fc.constantFrom("1", "x"),
        sent_at: fc.oneof(fc.integer().map(String), fc.constantFrom("1782907200000", "9".repeat(30), "x")),
      },
      { requiredKeys: [] },
    )
    .map((fields) => `?${new URLSearchParams(fields)}`),
);

const request = fc
  .record({ target: fc.constantFrom(...targets), headers, query, body })
  .map(
    (given): Sent => ({
      method: given.target.method,
      target: given.target.path + given.query,
      headers: given.headers,
      body: given.body,
    }),
  );

describe.each(["documented", "production"] as const)("anything at all (%s)", (dialect) => {
  test("is answered, with a reason, and never by a crash", async () => {
    // One edge for all runs: what came before (persons, groups, uuids) must not matter.
    const edge = openEdge(dialect);
    await fc.assert(
      fc.asyncProperty(request, async (sent) => {
        const outcome = await edge.send(sent);
        expect(edge.crashes).toEqual([]);
        expect(outcome.status).toBeLessThan(500);
        const isRefused = outcome.status >= 400;
        expect(outcome.rejected !== undefined).toBe(isRefused);
        for (const event of outcome.events) expect(event.outcome === "dropped").toBe(event.reason !== null);
        expect(outcome.note.text ?? "").not.toMatch(/[\n\r]/);
        const keys = (outcome.note.keys ?? []).map(({ event, distinct_id }) => ({ event, distinct_id }));
        expect(keysOf(outcome.line)).toEqual(keys);
      }),
      { numRuns: 600 },
    );
  });
});

test("the generator reaches every row and more than one answer", async () => {
  const edge = openEdge();
  for (const sent of fc.sample(request, { numRuns: 400, seed: 7 })) await edge.send(sent);
  expect(edge.lines.flatMap(({ events = [] }) => events).length).toBeGreaterThan(50);
  expect(new Set(edge.lines.map(({ status }) => status))).toEqual(new Set([200, 204, 400, 401, 405, 415]));
});
