import { deflateRawSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { fc } from "../../support/chance.ts";

let sims: Sim[];
let paths: Record<"all" | "capture", string[]>;

beforeAll(async () => {
  sims = [await startSim(), await startSim({ dialect: "production", adoptTokens: true })];
  const rows = (await sims[0]?.endpoints()) ?? [];
  const journaled = rows.filter((it) => it.journaled !== false);
  const capture = journaled.filter((it) => it.family.startsWith("capture"));
  paths = { all: journaled.map((it) => it.path), capture: capture.map((it) => it.path) };
});
afterAll(() => Promise.all(sims.map((sim) => sim.close())));

/** Mostly the expected, so that requests get past the first check; now and then anything. */
const mostly = <T>(expected: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: expected }, { weight: 1, arbitrary: fc.jsonValue() });

const keys = fc.constantFrom(
  "phc_sim_default",
  "phc_sim_default",
  "phc_sim_default",
  "phc_sim_default",
  "phc_sim_default",
  "phs_sim_default",
  "phx_sim_default",
  "phc_unknown",
  "",
  "é",
  "\u0000",
);
const names = fc.constantFrom(
  "$identify",
  "$create_alias",
  "$groupidentify",
  "$snapshot",
  "$ai_trace",
  "$feature_flag_called",
  "e",
  "",
);

/** Values that the endpoints look at, mixed with values that they do not expect there. */
const item = fc.record(
  {
    event: mostly(names),
    distinct_id: mostly(fc.string()),
    uuid: mostly(fc.uuid()),
    timestamp: mostly(fc.date({ noInvalidDate: true }).map((it) => it.toISOString())),
    offset: mostly(fc.integer()),
    api_key: mostly(keys),
    properties: mostly(
      fc.record(
        {
          token: keys,
          distinct_id: fc.string(),
          alias: mostly(fc.string()),
          $anon_distinct_id: mostly(fc.string()),
          $set: fc.jsonValue(),
          $set_once: fc.jsonValue(),
          $unset: fc.jsonValue(),
          $groups: fc.jsonValue(),
          $group_type: fc.jsonValue(),
          $group_key: fc.jsonValue(),
          $group_set: fc.jsonValue(),
          $process_person_profile: fc.jsonValue(),
          $session_id: fc.jsonValue(),
          $snapshot_data: fc.jsonValue(),
          __proto__: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);

const document = fc.oneof(
  fc.jsonValue(),
  item,
  item,
  fc.array(item, { maxLength: 5 }),
  fc.record(
    {
      api_key: mostly(keys),
      token: keys,
      batch: mostly(fc.array(item, { maxLength: 5 })),
      sent_at: mostly(fc.string()),
      created_at: mostly(fc.string()),
      distinct_id: fc.jsonValue(),
      groups: fc.jsonValue(),
      person_properties: fc.jsonValue(),
      group_properties: fc.jsonValue(),
      flag_keys_to_evaluate: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

const encodings: Record<string, (text: string) => Uint8Array> = {
  plain: (text) => Buffer.from(text),
  gzip: (text) => gzipSync(text),
  "cut gzip": (text) => gzipSync(text).subarray(0, 15),
  deflate: (text) => deflateRawSync(text),
  base64: (text) => Buffer.from(Buffer.from(text).toString("base64")),
  form: (text) => Buffer.from(`data=${encodeURIComponent(text)}`),
  "base64 form": (text) =>
    Buffer.from(`data=${encodeURIComponent(Buffer.from(text).toString("base64"))}&compression=base64`),
  "broken text": (text) => Buffer.from(text.slice(0, -1)),
};

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.string({ unit: "binary", maxLength: 200 }).map((text) => new Uint8Array(Buffer.from(text))),
);
const encoding = fc.constantFrom("plain", "plain", "plain", "gzip", "gzip", ...Object.keys(encodings));
const encoded = fc
  .tuple(document, encoding)
  .map(([value, name]) => new Uint8Array(encodings[name]?.(JSON.stringify(value)) ?? []));
const body = fc.oneof({ weight: 6, arbitrary: encoded }, { weight: 1, arbitrary: anyBytes });

const headers = fc.record(
  {
    "content-type": fc.constantFrom(
      "application/json",
      "application/json",
      "application/json",
      "application/json",
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/x-protobuf",
      "nonsense",
    ),
    "content-encoding": fc.constantFrom(
      ...Array.from({ length: 12 }, () => "identity"),
      ...["gzip", "deflate", "br", "zstd", "lz64", "nonsense"],
    ),
    authorization: keys.filter((it) => /^[\w]*$/.test(it)).map((it) => `Bearer ${it}`),
    "posthog-sdk-info": fc.constantFrom("posthog-node/5.0.0", "x"),
    "posthog-attempt": fc.constantFrom("1", "0", "x"),
    "posthog-request-id": fc.oneof(fc.uuid(), fc.constant("x")),
    "posthog-request-timestamp": fc.constantFrom("2026-01-01T00:00:00Z", "x"),
    "x-forwarded-for": fc.constantFrom("1.2.3.4", "::1", "x, y", ""),
    origin: fc.constantFrom("https://app.example", "null"),
  },
  { requiredKeys: [] },
);

const query = fc.oneof(
  fc.constantFrom(
    "",
    "?v=2",
    "?v=4&config=true",
    "?compression=gzip-js",
    "?compression=base64",
    "?beacon=1",
    "?data=e30=",
    "?sent_at=1700000000000",
  ),
  fc.webQueryParameters().map((it) => `?${it}`),
);

const methods = fc.oneof(
  { weight: 20, arbitrary: fc.constant("POST") },
  { weight: 6, arbitrary: fc.constantFrom("GET", "OPTIONS", "HEAD", "PUT", "DELETE", "PATCH") },
);

/** A segment for a path parameter: mostly ones that exist. */
const segment = fc.oneof(
  fc.constantFrom("1", "@current", "phc_sim_default", "array.js", "beta-feature"),
  fc.webSegment(),
);

const request = fc.record({
  path: fc.record({ among: fc.constantFrom("all", "capture"), index: fc.nat() }),
  segment,
  slash: fc.constantFrom("", "/"),
  query,
  method: methods,
  headers,
  body,
  sim: fc.nat(1),
});

test("no request on any public path makes an error of ours, and every refusal has its reason; then the log can be read as a whole", async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ path, segment, slash, query, method, headers, body, sim: which }) => {
      const sim = sims[which] as Sim;
      const among = paths[path.among];
      const target = (among[path.index % among.length] ?? "/").replace(/:\w+/g, segment) + slash + query;
      const init: RequestInit = { method, headers };
      if (method !== "GET" && method !== "HEAD") init.body = body;
      const response = await sim.handle(new Request(sim.url + target, init));
      expect(response.status, target).toBeLessThan(500);
      const [latest] = await sim.requests.list({ limit: 1 });
      expect(latest).toMatchObject({ method, status: response.status });
      if (response.status >= 400)
        expect(latest?.rejected, target).toMatchObject({ reason: /./, detail: expect.any(String) });
    }),
    { numRuns: 4_000 },
  );
  for (const sim of sims) {
    // How many events were kept is left to chance: the fuzzing may have deleted the project, or given it another key.
    expect(await sim.requests.list({ limit: 10_000 })).not.toEqual([]);
    const events = await sim.events.list();
    expect(events.every((it) => it.outcome === "kept" || it.reason !== null)).toBe(true);
    expect((await sim.info()).in_flight).toBe(0);
  }
});
