import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { SimError } from "../../src/base/errors.ts";
import { atOnce, inSlices } from "../../src/base/work.ts";
import { type Call, callFrom } from "../../src/http/call.ts";
import { createCallOwners } from "../../src/ingest/call-owner.ts";
import { takeLegacy } from "../../src/ingest/take-legacy.ts";
import { key, now, openEdge } from "./edge.ts";

const { desk } = openEdge();
const owners = createCallOwners(desk);

const callWith = (body: Buffer, target = "/batch/"): Call =>
  callFrom({
    method: "POST",
    target,
    headers: {},
    rawHeaders: [],
    body,
    peer: "127.0.0.1",
    at: now,
    started: 0,
    signal: () => new AbortController().signal,
  });

const item = { event: "e", distinct_id: "u", properties: { plan: "pro" } };
const batch = Buffer.from(JSON.stringify({ api_key: key, batch: [item] }));

test("the owner is found by the body, and the handler reads what was decoded for that", () => {
  const call = callWith(gzipSync(batch));
  expect(owners.owner(call, "capture")).toBe(1);
  expect(call.record).toMatchObject({ decoded: { steps: ["gzip"], token: key } });
  expect(call.record.project).toBeUndefined();
  const { decoded } = call.record;
  expect(owners.text(call, "capture")).toBe(batch.toString());
  expect(call.record.decoded).toBe(decoded);
  atOnce(takeLegacy(desk, call));
  expect(call.record).toMatchObject({ project: 1, steps: ["gzip"], text: batch.toString() });
  expect(call.record.text).toBe(decoded?.json?.text);
  expect(call.record.keys).toMatchObject([{ event: "e", distinct_id: "u" }]);
});

test("a body that cannot be read has no owner, and the handler refuses it itself", () => {
  const call = callWith(Buffer.from("{"));
  expect(owners.owner(call, "capture")).toBeNull();
  expect(() => atOnce(takeLegacy(desk, call))).toThrow(SimError);
  expect(call.record.project).toBeUndefined();
});

test("the limit of the handler counts, not that of the search for the owner", async () => {
  const large = { api_key: key, batch: [{ ...item, properties: { x: "x".repeat(21 * 1024 * 1024) } }] };
  const call = callWith(gzipSync(JSON.stringify(large)));
  expect(owners.owner(call, "capture")).toBe(1);
  const taken = Promise.resolve().then(() => inSlices(takeLegacy(desk, call)));
  await expect(taken).rejects.toMatchObject({ code: "payload_too_large" });
  expect(call.record.text).toBeUndefined();
});

test("a call that no handler sees gets its project and its body on record", () => {
  const call = callWith(batch);
  owners.identify(call, "capture", false);
  expect(call.record).toMatchObject({ project: 1, text: batch.toString() });
  const plain = callWith(Buffer.from("{}"), `/api/surveys?token=${key}`);
  owners.identify(plain, "service", false);
  expect(plain.record.project).toBe(1);
  expect(plain.record.text).toBeUndefined();
});
