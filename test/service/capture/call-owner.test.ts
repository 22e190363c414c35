import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { SimError } from "../../../src/kernel/base/errors.ts";
import { atOnce, inSlices } from "../../../src/kernel/base/work.ts";
import { type Call, callFrom } from "../../../src/kernel/http/call.ts";
import type { Family } from "../../../src/kernel/http/family.ts";
import { createCallOwners } from "../../../src/service/capture/call-owner.ts";
import { takeLegacy } from "../../../src/service/capture/take-legacy.ts";
import { createKeyring } from "../../../src/state/documents/keyring.ts";
import { openWorld } from "../../../src/state/documents/world-store.ts";
import { aPersonalApiKey, aProject, aWorld } from "../../support/documents.ts";
import { key, now, openEdge, otherKey } from "./edge.ts";

const { desk } = openEdge();
const owners = createCallOwners(desk);

const of = (family: Family, call: Call): Call => Object.assign(call, { family });

const callWith = (body: Buffer, target = "/batch/", headers: Record<string, string> = {}): Call => {
  const call = callFrom({
    method: "POST",
    target,
    headers,
    rawHeaders: [],
    body,
    peer: "127.0.0.1",
    at: now,
    started: 0,
    signal: () => new AbortController().signal,
  });
  return of("capture", call);
};

const item = { event: "e", distinct_id: "u", properties: { plan: "pro" } };
const batch = Buffer.from(JSON.stringify({ api_key: key, batch: [item] }));

test("the owner is found by the body, and the handler reads what was decoded for that", () => {
  const call = callWith(gzipSync(batch));
  expect(owners.owner(call)).toBe(1);
  expect(call.record).toMatchObject({ decoded: { steps: ["gzip"], token: key } });
  expect(call.record.project).toBeUndefined();
  const { decoded } = call.record;
  expect(owners.text(call)).toBe(batch.toString());
  expect(call.record.decoded).toBe(decoded);
  atOnce(takeLegacy(desk, call));
  expect(call.record).toMatchObject({ project: 1, steps: ["gzip"], text: batch.toString() });
  expect(call.record.text).toBe(decoded?.json?.text);
  expect(call.record.keys).toMatchObject([{ event: "e", distinct_id: "u" }]);
});

const projects = "/api/projects";

test.each<[what: string, owner: number | null, target: string, body?: unknown]>([
  ["api_key only", 1, "/batch/", { api_key: key }],
  ["token only", 2, "/batch/", { token: otherKey }],
  ["api_key before token", 1, "/batch/", { api_key: key, token: otherKey }],
  ["a key that is no string", null, "/batch/", { api_key: 1 }],
  ["the key of the items", 2, "/batch/", [item, { ...item, token: otherKey }]],
  ["the key of one item", 2, "/capture/", { ...item, properties: { token: otherKey } }],
  ["items of two projects", null, "/batch/", [{ token: key }, { token: otherKey }]],
  ["no key at all", null, "/batch/", [item]],
  ["no body", null, "/batch/"],
  ["a body of one byte", null, "/batch/", "1"],
  ["data in the query", 1, `/e/?data=${encodeURIComponent(JSON.stringify({ ...item, api_key: key }))}`],
  ["the body before the query", 1, `/batch/?token=${otherKey}`, { api_key: key }],
  ["a key in the query", 2, `/e/?api_key=${otherKey}`],
  ["a key in the path", 1, `/array/${key}/config.js`],
  ["the query before the path", 2, `/array/${key}/config.js?token=${otherKey}`],
  ["a path without a key", null, "/array/config.js"],
  ["a number in the path", 2, `${projects}/2/query/`, { api_key: key }],
  ["an environment in the path", 2, "/api/environments/2", { api_key: key }],
  ["a number that no project has", null, `${projects}/99/`, { api_key: key }],
  ["a number that is too long", 1, `${projects}/0000000000000002/`, { api_key: key }],
  ["another path with a number", 1, `/x${projects}/2/`, { api_key: key }],
  ["a number that goes on", 1, `${projects}/2x/`, { api_key: key }],
  ["a path without a number", 1, `${projects}//`, { api_key: key }],
  ["the path of no number", 1, `${projects}/`, { api_key: key }],
])("%s: project %j", (_, owner, target, body) => {
  const text = typeof body === "string" ? body : JSON.stringify(body ?? "");
  const call = callWith(Buffer.from(body === undefined ? "" : text), target);
  expect(owners.owner(call)).toBe(owner);
});

test.each(["capture", "capture-v1", "flags", "management"] as const)("a body of %s", (family) => {
  const expected = family === "management" ? null : 1;
  expect(owners.owner(of(family, callWith(batch)))).toBe(expected);
  expect(owners.text(of(family, callWith(batch)))).toBe(expected === null ? undefined : batch.toString());
});

const personal = (n: number, scoped_teams: number[]) =>
  aPersonalApiKey({ id: `key-${n}`, key: `phx_key_of_a_person_${n}`, scoped_teams });
const worlds = await openWorld({
  seedWorld: () =>
    aWorld({
      projects: [aProject({ api_key: key }), aProject({ id: 2, api_key: otherKey, secret_api_key: "phs_two" })],
      personal_api_keys: [personal(1, [2]), personal(2, [1, 2]), personal(3, [])],
    }),
});
const adopted: string[] = [];
const keyOwners = createCallOwners({
  worlds,
  keys: createKeyring(worlds, undefined),
  projectFor(it) {
    adopted.push(it);
    return worlds.projectById(1);
  },
});

test.each<[what: string, owner: number | null, headers: Record<string, string>, target?: string]>([
  ["a project key", 1, { authorization: `Bearer ${key}` }],
  ["a secret key", 2, { authorization: "Bearer phs_two" }],
  ["a personal key of one project", 2, { authorization: "Bearer phx_key_of_a_person_1" }],
  ["a personal key of two projects", null, { authorization: "Bearer phx_key_of_a_person_2" }],
  ["a personal key of all projects", null, { authorization: "Bearer phx_key_of_a_person_3" }],
  ["an unknown key", null, { authorization: "Bearer phx_unknown" }],
  ["a key in the path first", 1, { authorization: "Bearer phs_two" }, `/array/${key}/config.js`],
  ["the header first", 2, { "x-phx-project": "2" }, `/e/?token=${key}`],
  ["a header that names no project", null, { "x-phx-project": "9" }, `/e/?token=${key}`],
])("%s: project %j", (_, owner, headers, target) => {
  const call = callWith(Buffer.alloc(0), target, headers);
  expect(keyOwners.owner(call)).toBe(owner);
  expect(keyOwners.ofUnmatched(call)).toBe(owner);
  expect(call.record.decoded).toBeUndefined();
});

test("only a call that may adopt makes a project of an unknown key", () => {
  const call = callWith(Buffer.from('{"api_key":"phc_unknown"}'));
  expect(keyOwners.owner(call)).toBeNull();
  expect(adopted).toEqual([]);
  expect(keyOwners.owner(call, true)).toBe(1);
  expect(adopted).toEqual(["phc_unknown"]);
});

test("the management API has no header for the project, and the name of a route's key is its own", () => {
  const call = callWith(Buffer.alloc(0), `/api/x?token=${key}`, { "x-phx-project": "2" });
  expect(keyOwners.owner(of("management", call))).toBe(1);
  const named = callWith(Buffer.alloc(0), `/x/${key}`);
  Object.assign(named, { params: { token: otherKey } });
  expect(keyOwners.owner(of("service", named))).toBe(2);
});

test("a text that is on record is not decoded again", () => {
  const call = callWith(batch);
  call.record.text = "known";
  expect(owners.text(call)).toBe("known");
});

test("a call that no row answers", () => {
  expect(owners.ofUnmatched(callWith(batch))).toBe(1);
  expect(owners.ofUnmatched(callWith(Buffer.alloc(0), `/e/?token=${otherKey}`))).toBe(2);
  expect(owners.ofUnmatched(callWith(Buffer.from("1")))).toBeNull();
});

test("a body that cannot be read has no owner, and the handler refuses it itself", () => {
  const call = callWith(Buffer.from("{"));
  expect(owners.owner(call)).toBeNull();
  expect(() => atOnce(takeLegacy(desk, call))).toThrow(SimError);
  expect(call.record.project).toBeUndefined();
});

test("the limit of the handler counts, not that of the search for the owner", async () => {
  const large = { api_key: key, batch: [{ ...item, properties: { x: "x".repeat(21 * 1024 * 1024) } }] };
  const call = callWith(gzipSync(JSON.stringify(large)));
  expect(owners.owner(call)).toBe(1);
  const taken = Promise.resolve().then(() => inSlices(takeLegacy(desk, call)));
  await expect(taken).rejects.toMatchObject({ code: "payload_too_large" });
  expect(call.record.text).toBeUndefined();
});

test("a call that no handler sees gets its project and its body on record", () => {
  const call = callWith(batch);
  owners.identify(call, false);
  expect(call.record).toMatchObject({ project: 1, text: batch.toString() });
  const plain = callWith(Buffer.from("{}"), `/api/surveys?token=${key}`);
  owners.identify(of("service", plain), false);
  expect(plain.record.project).toBe(1);
  expect(plain.record.text).toBeUndefined();
});
