import { afterAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";
import type { Dialect } from "../../src/state/documents/dialect.ts";
import { fc } from "../support/chance.ts";
import { checkerOf } from "./answers.ts";
import { callsOf, type GeneratedCall } from "./calls.ts";
import { documentOf, type Operation, operationsOf, type SimDocument } from "./document.ts";
import { ids, twoOrganizations } from "./two-organizations.ts";

/** Calls of each operation. `npm run fuzz:api` makes many more; another FUZZ_SEED makes others. */
const runs = Number(process.env.FUZZ_RUNS ?? 16);
const seed = Number(process.env.FUZZ_SEED ?? 7490);
const timeout = 180_000 + runs * 200;

const origin = "http://sim.test";

/** A stream of events goes on as long as someone reads it. */
async function textOf(answer: Response): Promise<string> {
  if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) return answer.text();
  await answer.body?.cancel();
  return "";
}

async function describeSim(dialect: Dialect): Promise<SimDocument> {
  await using sim = await startSim({ scenario: twoOrganizations, dialect });
  return documentOf(sim);
}

/** The dialects differ in few rows: the second gets fewer calls. */
const dialects = [
  { dialect: "documented", document: await describeSim("documented"), numRuns: runs },
  { dialect: "production", document: await describeSim("production"), numRuns: Math.ceil(runs / 4) },
] as const;

function send(sim: Sim, { method }: Operation, { path, headers, body }: GeneratedCall): Promise<Response> {
  return sim.handle(new Request(origin + path, { method, headers, ...(body !== undefined && { body }) }));
}

const happened = [
  { event: "seen", uuid: ids.event, distinct_id: "user-1", properties: { $set: { email: "user-1@contract.test" } } },
  { event: "grouped", distinct_id: "user-1", properties: { $groups: { company: "acme" } } },
  { distinct_id: "user-2" },
];

/** A sim in which something has happened. */
async function inhabitedSim(dialect: Dialect, notices: string[]): Promise<Sim> {
  const sim = await startSim({ scenario: twoOrganizations, dialect, onNotice: (text) => notices.push(text) });
  for (const event of happened) {
    const body = JSON.stringify({ api_key: ids.projectKey, ...event });
    await sim.handle(new Request(`${origin}/capture/`, { method: "POST", body }));
  }
  expect(await sim.events.list({ outcome: "kept" })).toHaveLength(2);
  return sim;
}

/** What the service itself fails at, as the dialect row `organization_batch_exports` says: 500 in production. */
const failsInProduction = new Set(
  ["POST", "POST /{id}/backfill", "GET /{id}/logs"].map((it) => {
    const [method, tail = ""] = it.split(" ");
    return `${method} /api/organizations/{organization_id}/batch_exports${tail}`;
  }),
);

/** The path of the feed speaks websocket: over HTTP it only says so. */
const mayTurnOutWell = ({ responses }: Operation): boolean =>
  Object.keys(responses).some((status) => status.startsWith("2"));

const nameOf = ({ method, path }: Operation): string => `${method} ${path}`;

describe.each(dialects)("a client made from the document, $dialect", ({ dialect, document, numRuns }) => {
  const operations = operationsOf(document).filter(
    (it) => dialect === "documented" || !failsInProduction.has(nameOf(it)),
  );
  const check = checkerOf(document);
  const succeeded = new Set<string>();

  test.each(operations.map((it): [string, Operation] => [nameOf(it), it]))(
    "%s answers as documented, whatever is sent",
    async (name, operation) => {
      const notices: string[] = [];
      await using sim = await inhabitedSim(dialect, notices);
      await fc.assert(
        fc.asyncProperty(callsOf(operation, document.components.schemas), async (call) => {
          const answer = await send(sim, operation, call);
          expect(check(operation, answer, await textOf(answer))).toEqual([]);
          if (answer.ok) succeeded.add(name);
        }),
        { numRuns, seed },
      );
      expect(notices.filter((it) => it.includes("bug"))).toEqual([]);
      expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    },
    timeout,
  );

  // Otherwise the keys, ids and bodies that are made would say little. Some operations are always refused.
  afterAll(() => {
    if (numRuns < runs) return;
    const failing = operations
      .filter(mayTurnOutWell)
      .map(nameOf)
      .filter((name) => !succeeded.has(name));
    expect(failing.length, `never a success: ${failing.join(", ")}`).toBeLessThan(operations.length / 6);
  });
});
