import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { assertionsOf } from "../../../src/lab/assert/client-assertions.ts";
import { definePlan } from "../../../src/plan.ts";
import type { Project } from "../../../src/sim/client/api.ts";
import type { MatcherReport } from "../../../src/testing/matchers/matcher.ts";
import "../../../src/testing/vitest-matchers.ts";
import { openSim } from "../../support/sim.ts";
import { askFlags, send, signedUp } from "../shop.ts";

const { sim } = await openSim({ scenario: "flags-gallery" });

const now = { timeoutMs: 0, settleMs: 0 };

/** The text of what an assertion throws. */
const failure = async (assertion: Promise<void>): Promise<string> => {
  try {
    await assertion;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("it did not fail");
};

interface Row {
  name: string;
  arrange?: (project: Project) => Promise<void>;
  /** What holds. */
  holds: (project: Project) => Promise<void>;
  /** Its opposite, and what is said when that fails. */
  fails: (project: Project) => Promise<void>;
  says: RegExp[];
}

const signup = (project: Project) => send(project, ...signedUp);

const rows: Row[] = [
  {
    name: "toHaveCaptured",
    holds: (it) => expect(it).toHaveCaptured("signup_completed", { plan: "pro", amount: expect.any(Number) }),
    fails: (it) => expect(it).toHaveCaptured("signup_completed", { plan: "free" }, now),
    says: [/toHaveCaptured\("signup_completed", \{plan: "free"\}/, /"pro"/],
  },
  {
    name: "toHaveCaptured with a pattern of the whole event",
    holds: (it) => expect(it).toHaveCaptured({ event: /^signup/, distinct_id: "visitor" }),
    fails: (it) => expect(it).toHaveCaptured("signup_completed", undefined, { ...now, distinctId: "visitor" }),
    says: [/toHaveCaptured\("signup_completed"/],
  },
  {
    name: "not.toHaveCaptured",
    holds: (it) => expect(it).not.toHaveCaptured("error_shown"),
    fails: (it) => expect(it).not.toHaveCaptured("signup_started", undefined, now),
    says: [/not\.toHaveCaptured\("signup_started"/, /signup_started/],
  },
  {
    name: "toHaveCapturedTimes",
    holds: (it) => expect(it).toHaveCapturedTimes("signup_completed", 1, { plan: "pro" }),
    fails: (it) => expect(it).toHaveCapturedTimes("signup_completed", 2, undefined, now),
    says: [/toHaveCapturedTimes\("signup_completed", 2/],
  },
  {
    name: "not.toHaveCapturedTimes",
    holds: (it) => expect(it).not.toHaveCapturedTimes("signup_completed", 2),
    fails: (it) => expect(it).not.toHaveCapturedTimes("signup_completed", 1, undefined, now),
    says: [/not\.toHaveCapturedTimes/, /exactly 1 times: #\d+/],
  },
  {
    name: "toHaveCapturedInOrder",
    holds: (it) => expect(it).toHaveCapturedInOrder(["signup_started", { properties: { plan: "pro" } }]),
    fails: (it) => expect(it).toHaveCapturedInOrder(["signup_completed", "signup_started"], now),
    says: [/toHaveCapturedInOrder\(\["signup_completed", "signup_started"\]/],
  },
  {
    name: "not.toHaveCapturedInOrder",
    holds: (it) => expect(it).not.toHaveCapturedInOrder(["signup_completed", "signup_started"]),
    fails: (it) => expect(it).not.toHaveCapturedInOrder(["signup_started", "signup_completed"], now),
    says: [/in this order: #\d+, #\d+/],
  },
  {
    name: "toHaveCapturedOnly",
    holds: (it) => expect(it).toHaveCapturedOnly(["signup_started", "signup_completed"]),
    fails: (it) => expect(it).toHaveCapturedOnly(["signup_completed"], now),
    says: [/toHaveCapturedOnly\(\["signup_completed"\]/, /signup_started/],
  },
  {
    name: "toHaveCapturedOnly with a name twice",
    holds: (it) => expect(it).not.toHaveCapturedOnly(["signup_started", "signup_completed", "signup_completed"]),
    fails: (it) => expect(it).toHaveCapturedOnly(["signup_started", "signup_completed", "signup_completed"], now),
    says: [/signup_completed/],
  },
  {
    name: "toHaveCapturedOnly of nothing",
    arrange: () => Promise.resolve(),
    holds: (it) => expect(it).toHaveCapturedOnly([]),
    fails: (it) => expect(it).not.toHaveCapturedOnly([], now),
    says: [/nothing else was captured/],
  },
  {
    name: "toHaveIdentified",
    holds: (it) => expect(it).toHaveIdentified("anna", { plan: "pro" }),
    fails: (it) => expect(it).toHaveIdentified("anna", { plan: "free" }, { timeoutMs: 0 }),
    says: [/toHaveIdentified\("anna", \{plan: "free"\}/, /plan: expected "free", got "pro"/],
  },
  {
    name: "toHaveIdentified of someone unknown",
    holds: (it) => expect(it).not.toHaveIdentified("ben"),
    fails: (it) => expect(it).toHaveIdentified("ben", undefined, { timeoutMs: 0 }),
    says: [/"ben": no person has this id/, /check that identify\(\) is called/],
  },
  {
    name: "not.toHaveIdentified",
    holds: (it) => expect(it).toHaveIdentified("visitor"),
    fails: (it) => expect(it).not.toHaveIdentified("anna"),
    says: [/not\.toHaveIdentified/, /"anna": person [\w-]+, ids "visitor", "anna", identified/],
  },
  {
    name: "toHaveIdentified by a server, without an anonymous id",
    arrange: (it) => send(it, { event: "$identify", properties: { $set: { plan: "pro" } } }),
    holds: (it) => expect(it).toHaveIdentified("anna", { plan: expect.stringMatching(/^p/) }),
    fails: (it) => expect(it).not.toHaveIdentified("anna"),
    says: [/not identified by a merge/],
  },
  {
    name: "toHaveMerged",
    holds: (it) => expect(it).toHaveMerged("visitor", "anna"),
    fails: (it) => expect(it).toHaveMerged("anna", "ben", { timeoutMs: 0 }),
    says: [/"anna": person/, /"ben": no person/, /#\d+ \$identify "anna" with "visitor"/],
  },
  {
    name: "toHaveMerged when the merge was refused",
    arrange: async (it) => {
      await signup(it);
      const ben = { distinct_id: "ben", properties: { $anon_distinct_id: "other" } };
      await send(it, { event: "$identify", ...ben });
      await send(it, { event: "$identify", distinct_id: "anna", properties: { $anon_distinct_id: "ben" } });
    },
    holds: (it) => expect(it).not.toHaveMerged("anna", "ben"),
    fails: (it) => expect(it).toHaveMerged("anna", "ben", { timeoutMs: 0 }),
    says: [/\$identify "anna" with "ben": cannot_merge_already_identified/],
  },
  {
    name: "toHaveNoDroppedEvents",
    arrange: (it) => send(it, { event: "fine" }, { event: "lost", distinct_id: "" }),
    holds: (it) => expect(it).not.toHaveNoDroppedEvents(),
    fails: (it) => expect(it).toHaveNoDroppedEvents(),
    says: [/dropped events: 1/, /lost.*missing_distinct_id/],
  },
  {
    name: "not.toHaveNoDroppedEvents",
    holds: (it) => expect(it).toHaveNoDroppedEvents(),
    fails: (it) => expect(it).not.toHaveNoDroppedEvents(),
    says: [/every event was kept/],
  },
  {
    name: "toHaveNoUnmatchedRequests",
    holds: (it) => expect(it).toHaveNoUnmatchedRequests(),
    fails: (it) => expect(it).not.toHaveNoUnmatchedRequests(),
    says: [/every request went to a path that exists/],
  },
  {
    name: "toHaveBeenContacted",
    holds: (it) => expect(it).toHaveBeenContacted(),
    fails: (it) => expect(it).not.toHaveBeenContacted(),
    says: [/requests of SDKs: 1/, /request #\d+ \d{4}-\S+Z events: POST \/batch\//],
  },
  {
    name: "not.toHaveBeenContacted",
    arrange: async () => {},
    holds: (it) => expect(it).not.toHaveBeenContacted(),
    fails: (it) => expect(it).toHaveBeenContacted({ timeoutMs: 0 }),
    says: [/no request of an SDK has arrived/],
  },
  {
    name: "toHaveServedFlag",
    arrange: async (it) => {
      await it.flags.set("checkout", "test", { force: true });
      await askFlags(it, "anna");
    },
    holds: (it) => expect(it).toHaveServedFlag("checkout", "test", { distinctId: "anna" }),
    fails: (it) => expect(it).toHaveServedFlag("checkout", "control", { distinctId: "anna", timeoutMs: 0 }),
    says: [/to "anna": "test" \(answered\)/, /overridden: "test" for all users/, /now it would be "test"/],
  },
  {
    name: "not.toHaveServedFlag",
    arrange: async (it) => {
      await it.flags.set("checkout", true, { force: true });
      await askFlags(it, "anna", 1);
    },
    holds: (it) => expect(it).not.toHaveServedFlag("checkout", false),
    fails: (it) => expect(it).not.toHaveServedFlag("checkout"),
    says: [/not\.toHaveServedFlag\("checkout"\)/, /to "anna": true/],
  },
  {
    name: "toHaveServedFlag when no one asked",
    holds: (it) => expect(it).not.toHaveServedFlag("variants"),
    fails: (it) => expect(it).toHaveServedFlag("no-such-flag", true, { timeoutMs: 0 }),
    says: [/no flags were requested/, /there is no flag "no-such-flag" here/],
  },
  {
    name: "toHaveServedFlag by local evaluation",
    arrange: (it) =>
      send(it, {
        event: "$feature_flag_called",
        properties: { $feature_flag: "f", $feature_flag_response: "a", locally_evaluated: true },
      }),
    holds: (it) => expect(it).toHaveServedFlag("f", "a", { distinctId: "anna" }),
    fails: (it) => expect(it).toHaveServedFlag("f", "b", { timeoutMs: 0 }),
    says: [/"a" \(evaluated by the SDK itself\)/],
  },
];

describe.each(rows)("$name", ({ arrange = signup, holds, fails, says }) => {
  test("holds", async () => {
    await using project = await sim.project();
    await arrange(project);
    await holds(project);
  });

  test("fails with evidence", async () => {
    await using project = await sim.project();
    await arrange(project);
    const text = await failure(fails(project));
    for (const it of says) expect(text).toMatch(it);
  });
});

describe("what is still to come", () => {
  const waits: [string, (project: Project) => Promise<void>, (project: Project) => Promise<void>][] = [
    ["an event", (it) => expect(it).toHaveCaptured("signup_completed"), signup],
    ["a person", (it) => expect(it).toHaveIdentified("anna", { plan: "pro" }), signup],
    ["a merge", (it) => expect(it).toHaveMerged("anna", "visitor"), signup],
    ["a request", (it) => expect(it).toHaveBeenContacted(), signup],
    ["a flag", (it) => expect(it).toHaveServedFlag("x", true), (it) => askFlags(it, "anna")],
  ];
  test.each(waits)("%s is waited for", async (_, assertion, later) => {
    await using project = await sim.project({ flags: { x: true } });
    const waiting = assertion(project);
    await later(project);
    await waiting;
  });
});

test("a rejected request with events is no clean record", async () => {
  await using other = await startSim();
  await fetch(`${other.url}/batch/`, { method: "POST", body: "{" });
  const text = await failure(expect(other).toHaveNoDroppedEvents());
  expect(text).toMatch(/rejected with all their events: 1/);
});

const unknownKey = () =>
  fetch(`${sim.url}/capture/`, {
    method: "POST",
    body: JSON.stringify({ api_key: "phc_of_no_project", event: "a", distinct_id: "u" }),
  });

test("a request with the key of no project counts for the sim, and is named where a project waits in vain", async () => {
  await using project = await sim.project();
  const { n: after = 0 } = (await sim.requests.list({ limit: 1 }))[0] ?? {};
  await unknownKey();
  const text = await failure(expect(project).toHaveCaptured("a", undefined, now));
  expect(text).toMatch(/the SDK used the key phc_\w+, which no project has; expected phc_/);
  expect(await failure(expect(sim).toHaveNoDroppedEvents())).toContain(`request #${after + 1} POST /capture/`);
});

const shortened: [name: string, call: (it: Project) => Promise<unknown>][] = [
  ["a matcher", (it) => expect(it).toHaveCaptured("a", {}, { timeoutMs: 60_000 })],
  ["a wait", (it) => it.events.waitFor("a", {}, { timeoutMs: 60_000 })],
  ["a wait for a predicate", (it) => it.events.waitFor("a", { b: () => true }, { timeoutMs: 60_000 })],
];
test.each(shortened)("%s that the test's limit shortened says so", async (_, call) => {
  await using project = await sim.project();
  const end = performance.now();
  assertionsOf(project).deadline = () => ({ at: end, limit: 1_000 });
  const text = await failure(call(project).then(() => undefined));
  expect(text).toMatch(
    /^[^\n]+not captured[^\n]+\n {2}\(the wait was shortened from 60000 ms to 0 ms by the test's own limit\)\n/,
  );
});

test("an unmatched request is named", async () => {
  await using other = await startSim();
  await fetch(`${other.url}/captrue/`, { method: "POST", body: "{}" });
  const text = await failure(expect(other).toHaveNoUnmatchedRequests());
  expect(text).toMatch(/POST \/captrue\//);
});

const misspelt = { timeout: 1 } as object;
const unknownOptions: [name: string, call: (it: Project) => Promise<void>][] = [
  ["toHaveCaptured", (it) => expect(it).toHaveCaptured("a", {}, misspelt)],
  ["toHaveCapturedTimes", (it) => expect(it).toHaveCapturedTimes("a", 1, {}, misspelt)],
  ["toHaveCapturedInOrder", (it) => expect(it).toHaveCapturedInOrder(["a"], misspelt)],
  ["toHaveCapturedOnly", (it) => expect(it).toHaveCapturedOnly(["a"], misspelt)],
  ["toHaveNoDroppedEvents", (it) => expect(it).toHaveNoDroppedEvents(misspelt)],
  ["toHaveIdentified", (it) => expect(it).toHaveIdentified("a", {}, misspelt)],
  ["toHaveMerged", (it) => expect(it).toHaveMerged("a", "b", misspelt)],
  ["toHaveServedFlag", (it) => expect(it).toHaveServedFlag("a", true, misspelt)],
  ["toHaveBeenContacted", (it) => expect(it).toHaveBeenContacted(misspelt)],
];
test.each(unknownOptions)("%s refuses an option that it does not have", async (name, call) => {
  await using project = await sim.project();
  expect(await failure(call(project))).toContain(`${name}: unknown option "timeout"`);
});

const post = (body: string | Uint8Array, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body,
  headers,
});
const bearer = (key: string): RequestInit => ({ headers: { authorization: `Bearer ${key}` } });

/** Where an unmatched request carries the key that it belongs to. */
const unmatched: [where: string, path: (it: Project) => string, init?: (it: Project) => RequestInit][] = [
  ["body", () => "/captrue/", (it) => post(JSON.stringify({ api_key: it.apiKey, event: "a" }))],
  ["items", () => "/captrue/", (it) => post(JSON.stringify([{ properties: { token: it.apiKey } }]))],
  [
    "packed body",
    () => "/captrue/",
    (it) => post(gzipSync(JSON.stringify({ batch: [], api_key: it.apiKey })), { "content-encoding": "gzip" }),
  ],
  ["query", (it) => `/captrue/?token=${it.apiKey}`],
  ["path", (it) => `/no/${it.apiKey}/such.js`],
  ["number in the path", (it) => `/api/projects/${it.id}/nothing/`],
  ["bearer", () => "/api/nothing/", (it) => bearer(it.secretApiKey)],
  ["personal key", () => "/api/nothing/", (it) => bearer(it.personalApiKey)],
  ["header", () => "/captrue/", (it) => ({ headers: { "x-phx-project": String(it.id) } })],
];

test.each(unmatched)("an unmatched request belongs to the project of its key: %s", async (_, path, init) => {
  await using mine = await sim.project();
  await using other = await sim.project();
  await fetch(`${sim.url}${path(mine)}`, init?.(mine));
  await expect(other).toHaveNoUnmatchedRequests();
  const text = await failure(expect(mine).toHaveNoUnmatchedRequests());
  expect(text).toMatch(/requests to paths that do not exist: 1\n {2}request #\d+ (GET|POST) /);
  expect(text).not.toMatch(/no project's key/);
});

test("an unmatched request without a project's key counts for every project of its time", async () => {
  await using mine = await sim.project();
  await using other = await sim.project();
  await fetch(`${sim.url}/captrue/`, post("{}"));
  await using later = await sim.project();
  const says =
    /POST \/captrue\/ \(HTTP 404\).*\n {4}check the path: .*\n1 of them carries no project's key: such requests count for every project/;
  for (const it of [mine, other]) expect(await failure(expect(it).toHaveNoUnmatchedRequests())).toMatch(says);
  await expect(later).toHaveNoUnmatchedRequests();
  await mine.reset();
  await expect(mine).toHaveNoUnmatchedRequests();
});

/** Requests that reach the sim, and their kind; null: no contact. */
const contacts: [request: string, kind: string | null][] = [
  ["GET /array/KEY/config.js", "config"],
  ["GET /array/KEY/config", "config"],
  ["GET /array/KEY/array.js", "script"],
  ["GET /static/recorder.js", "script"],
  ["POST /flags/?v=2", "flags"],
  ["POST /decide?v=3", "flags"],
  ["GET /api/feature_flag/local_evaluation?token=KEY", "flags"],
  ["POST /s/", "recording"],
  ["POST /e/", "events"],
  ["POST /i/v0/e/", "events"],
  ["POST /i/v1/analytics/events", "events"],
  ["GET /api/surveys/?token=KEY", "other"],
  ["POST /captrue/", "other"],
  ["GET /api/projects/1/insights/", null],
  ["GET /_liveness", null],
  ["GET /", null],
  ["OPTIONS /e/", null],
];
test.each(contacts)("%s is a contact of kind %s", async (request, kind) => {
  await using mine = await sim.project();
  await using other = await sim.project();
  const [method = "", target = ""] = request.replace("KEY", mine.apiKey).split(" ");
  const body = JSON.stringify({ api_key: mine.apiKey, event: "a", distinct_id: "u" });
  await fetch(`${sim.url}${target}`, {
    method,
    headers: { "x-phx-project": String(mine.id) },
    ...(method === "POST" && { body }),
  });
  const found = await mine.requests.contacts();
  expect(found.map((it) => [it.method, it.kind, it.project])).toEqual(kind === null ? [] : [[method, kind, mine.id]]);
  expect(await other.requests.contacts()).toEqual([]);
});

test("a request without a project's key counts for every project of its time", async () => {
  await using mine = await sim.project();
  const since = await mine.requests.mark();
  await fetch(`${sim.url}/static/recorder.js`);
  await using later = await sim.project();
  const text = await failure(expect(mine).not.toHaveBeenContacted({ since }));
  expect(text).toMatch(/script: GET \/static\/recorder\.js\n1 of them carries no project's key/);
  await expect(later).not.toHaveBeenContacted();
  await expect(mine).not.toHaveBeenContacted({ since: await mine.requests.mark() });
  await mine.reset();
  await expect(mine).not.toHaveBeenContacted();
});

test("a wait for a request ends with the first one, and the link leads to it where the sim lives on", async () => {
  await using other = await startSim({ reportLinks: true });
  const waiting = other.requests.contacts({ waitMs: 10_000 });
  await send(other, { event: "a" });
  const [first] = await waiting;
  expect(first?.inspect).toBe(`${other.url}/__sim/#/requests/${first?.n}`);
  expect(await failure(expect(other).not.toHaveBeenContacted())).toContain(`/__sim/#/requests/${first?.n}`);
});

test("a key that is nearly a flag's is reported", async () => {
  await using project = await sim.project({ flags: { checkout: true } });
  const text = await failure(expect(project).toHaveServedFlag("variantz", true, { timeoutMs: 0 }));
  expect(text).toMatch(/there is no flag "variantz" here: did you mean "variants"\?/);
});

test("a fault in force is reported", async () => {
  await using project = await sim.project();
  await project.faults.apply("flags-partial");
  const text = await failure(expect(project).toHaveServedFlag("x", true, { timeoutMs: 0 }));
  expect(text).toMatch(/faults in force: flags-partial/);
});

describe("the tracking plan", () => {
  const plan = new URL("../plans/signup.plan.json", import.meta.url).pathname;
  test("is matched, or what is wrong is reported", async () => {
    await using project = await sim.project();
    await send(project, { event: "signup_completed", properties: { plan: "pro" } });
    await expect(project).toMatchTrackingPlan(plan);
    await send(project, { event: "signup_completed", properties: { plan: 3 } });
    expect(await failure(expect(project).toMatchTrackingPlan(plan))).toMatch(/plan/);
    await expect(project).not.toMatchTrackingPlan(plan);
    const shop = definePlan({}, { title: "Shop" });
    expect(await failure(expect(project).toMatchTrackingPlan(shop))).toMatch(/^toMatchTrackingPlan\("Shop"\)\n/);
    expect(await failure(expect(project).toMatchTrackingPlan(definePlan({})))).toMatch(
      /^toMatchTrackingPlan\(a plan\)\n/,
    );
  });
});

describe("mistakes", () => {
  /** For the compiler only a project or a sim has the matchers. */
  const taken = (value: unknown) => value as Project;
  const wrong: [string, () => Promise<void>, RegExp][] = [
    [
      "a text",
      () => expect(taken("phc_x")).toHaveCaptured("a"),
      /toHaveCaptured\("a"\): expect\(\) needs a sim.*not "phc_x"/,
    ],
    ["nothing", () => expect(taken(undefined)).toHaveNoDroppedEvents(), /needs a sim.*not undefined/],
    ["a promise", () => expect(taken(sim.project())).toHaveCaptured("a"), /not a promise of one: await it first/],
    ["its events", () => expect(taken(sim.events)).toHaveCaptured("a"), /not its events/],
    ["half a count", () => expect(sim).toHaveCapturedTimes("a", 1.5), /must be a whole number from 0, not 1.5/],
    ["no count", () => expect(sim).toHaveCapturedTimes("a", "1" as unknown as number), /must be a whole number/],
    ["an empty order", () => expect(sim).toHaveCapturedInOrder([]), /is empty/],
    ["no list", () => expect(sim).toHaveCapturedOnly("a" as unknown as string[]), /must be a list/],
    ["an empty id", () => expect(sim).toHaveIdentified(""), /a distinct id is a string that is not empty/],
    ["no key", () => expect(sim).toHaveServedFlag(""), /a flag's key is a string/],
    // @ts-expect-error there is no such operator
    ["a bad operator in properties", () => expect(sim).toHaveIdentified("a", { "@gtt": 1 }), /@gtt/],
    ["no value", () => expect(sim).toHaveServedFlag("a", 1 as unknown as string), /true, false or a variant/],
    ["no plan", () => expect(sim).toMatchTrackingPlan(7 as unknown as string), /definePlan/],
    ["a plan's JSON", () => expect(sim).toMatchTrackingPlan({} as unknown as string), /definePlan/],
    ["a bad operator", () => expect(sim).toHaveCaptured("a", { b: { "@gt": {} } }, now), /@gt/],
  ];
  test.each(wrong)("%s", async (_, assertion, says) => {
    expect(await failure(assertion())).toMatch(says);
  });
  test("are not let pass by .not", async () => {
    expect(await failure(expect(taken("phc_x")).not.toHaveCaptured("a"))).toMatch(/needs a sim/);
  });
});

describe("error.report", () => {
  const reportOf = async (assertion: Promise<unknown>): Promise<MatcherReport> => {
    const error = await assertion.then(
      () => undefined,
      (it: unknown) => it,
    );
    expect(error).toHaveProperty("report");
    return (error as { report: MatcherReport }).report;
  };

  test("matchers and waits carry the report of the sim", async () => {
    await using ph = await sim.project();
    await signup(ph);
    const wanted = { title: 'toHaveCaptured("nope", {}, {timeoutMs: 0, settleMs: 0})', seen: { signup_started: 1 } };
    const error = await expect(ph, "after the signup")
      .toHaveCaptured("nope", {}, now)
      .catch((it: Error) => it);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^after the signup: toHaveCaptured/),
      report: wanted,
    });
    const waited = await reportOf(ph.events.waitFor("nope", {}, { timeoutMs: 0 }));
    expect(waited).toMatchObject({ title: 'waitFor("nope", {})', complaints: [{ kind: "too_few" }] });
    expect(Object.keys(waited).sort()).toEqual(
      Object.keys(await reportOf(expect(ph).toHaveCaptured("nope", {}, now))).sort(),
    );
  });

  test("other matchers have title, text and what they looked at", async () => {
    await using ph = await sim.project();
    await send(ph, { event: "lost", distinct_id: "" });
    expect(await reportOf(expect(ph).toHaveNoDroppedEvents())).toMatchObject({
      title: "toHaveNoDroppedEvents()",
      text: expect.stringContaining("missing_distinct_id"),
      dropped: [{ event: "lost", reason: "missing_distinct_id", fix: expect.any(String) }],
    });
    expect(await reportOf(expect(ph).toHaveIdentified("ada", {}, { timeoutMs: 0 }))).toMatchObject({
      title: 'toHaveIdentified("ada", {}, {timeoutMs: 0})',
      hints: [],
    });
    await expect(expect(ph).toHaveIdentified("")).rejects.toThrow(TypeError);
  });
});
