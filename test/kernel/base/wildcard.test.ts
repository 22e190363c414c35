import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { escapedPattern } from "../../../src/kernel/base/text.ts";
import { any, likeTest, nameTest, one, type Piece, placeOf, wildcardTest } from "../../../src/kernel/base/wildcard.ts";
import { globs } from "../../../src/lab/tapes/format/routes.ts";
import { openSim } from "../../support/sim.ts";

const within = { is: "any", isWithin: true } as const;
const oneWithin = { is: "one", isWithin: true } as const;

/** The same as a regular expression, which may take forever. */
function reference(pieces: readonly Piece[]): RegExp {
  const sources = new Map<Piece, string>([
    [any, ".*"],
    [one, "."],
    [within, "[^/]*"],
    [oneWithin, "[^/]"],
  ]);
  return new RegExp(`^${pieces.map((it) => sources.get(it) ?? escapedPattern(String(it))).join("")}$`, "su");
}

const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "é", "😀"), maxLength: 12 });

test.each([
  ["with any characters", [any]],
  ["with any characters and single ones", [any, one]],
  ["within segments", [any, one, within, oneWithin]],
])("patterns %s fit what a regular expression fits", (_, wild) => {
  const piece = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b", "/", "😀"), maxLength: 3 }),
    fc.constantFrom(...wild),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 7 }), text, (pieces, subject) => {
      expect(wildcardTest(pieces)(subject)).toBe(reference(pieces).test(subject));
    }),
    { numRuns: 2_000 },
  );
});

test("a part is found where String.indexOf finds it", () => {
  const long = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 60, maxLength: 80 });
  fc.assert(
    fc.property(fc.array(long, { minLength: 1, maxLength: 6 }), long, fc.nat(90), (parts, other, from) => {
      const subject = parts.join("");
      for (const part of [...parts, `${parts[0]}${other}`])
        expect(placeOf(subject, part, from)).toBe(subject.indexOf(part, from));
    }),
  );
});

test.each([
  ["a%", "abc", true],
  ["_b_", "abc", true],
  ["_", "😀", true],
  ["100\\%", "100%", true],
  ["100\\%", "1000", false],
  ["a\\b", "a\\b", true],
  ["%é", "CAFÉ", true],
  ["", "", true],
  ["%", "", true],
])("LIKE %j fits %j: %j", (pattern, subject, fits) => {
  expect(likeTest(pattern, true)(subject)).toBe(fits);
});

test.each([
  ["a", "a", true],
  ["a", "ab", false],
  ["*", "", true],
  ["a*", "a\nb", true],
  ["*a", "ba", true],
  ["a*a", "a", false],
  ["a*a", "aba", true],
  ["a*b*b", "abb", true],
  ["a*b*b", "ab", false],
  ["a**c", "abc", true],
  ["*b*", "abc", true],
  ["a.c", "abc", false],
  ["*ab*ab*abc", "abababc", true],
])("the wildcard %s and %j", (form, text, fits) => {
  expect(nameTest(form)(text)).toBe(fits);
});

/** Patterns and texts for which a search that starts over takes longer than any test waits. */
const slow = { pattern: `${"%a".repeat(40)}%b`, text: "a".repeat(3_000) };
const long = { part: `${"a".repeat(100_000)}b${"a".repeat(100_000)}`, text: "a".repeat(8_000_000) };

const { sim } = await openSim();
describe("no pattern stops the sim", () => {
  beforeAll(async () => {
    await capture({ event: "e", distinct_id: "x", properties: { slow: slow.text, $current_url: slow.text } });
  });

  async function ask(method: string, path: string, body?: object) {
    const response = await fetch(sim.url + path, {
      method,
      headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand
    return { status: response.status, json: (await response.json()) as any };
  }
  const capture = (event: object) => ask("POST", "/capture/", { api_key: sim.apiKey, ...event });
  const query = async (of: object) => {
    const { status, json } = await ask("POST", "/api/projects/1/query/", { query: of });
    expect(status).toBe(200);
    return json.results;
  };

  test("filters of insights", async () => {
    for (const operator of ["icontains", "not_icontains"]) {
      const filter = { type: "event", key: "slow", operator, value: slow.pattern };
      const series = [{ kind: "EventsNode", event: "e" }];
      const [{ count }] = await query({ kind: "TrendsQuery", series, properties: [filter] });
      expect(count).toBe(operator === "icontains" ? 0 : 1);
    }
  });

  test("steps of actions", async () => {
    const step = { event: "e", url: slow.pattern, url_matching: "contains" };
    const { json } = await ask("POST", "/api/projects/1/actions/", { name: "slow", steps: [step] });
    const series = [{ kind: "ActionsNode", id: json.id }];
    expect((await query({ kind: "TrendsQuery", series }))[0].count).toBe(0);
  });

  test.each(["LIKE", "ILIKE"])("HogQL's %s", async (operator) => {
    const text = `SELECT count() FROM events WHERE properties.slow ${operator} '${slow.pattern}'`;
    expect(await query({ kind: "HogQLQuery", query: text })).toEqual([[0]]);
  });

  test("conditions of flags", async () => {
    const condition = (operator: string) => ({
      properties: [{ key: "text", type: "person", operator, value: long.part }],
      rollout_percentage: 100,
    });
    for (const operator of ["icontains", "not_icontains"]) {
      const made = { key: operator, name: operator, active: true, filters: { groups: [condition(operator)] } };
      expect((await ask("POST", "/api/projects/1/feature_flags/", made)).status).toBe(201);
    }
    const { json } = await ask("POST", "/flags/?v=2", {
      api_key: sim.apiKey,
      distinct_id: "x",
      person_properties: { text: long.text },
    });
    expect(json.flags.icontains.enabled).toBe(false);
    expect(json.flags.not_icontains.enabled).toBe(true);
  });

  test("filters of events and patterns of waits", async () => {
    await capture({ event: "long", distinct_id: "x", properties: { text: long.text } });
    const glob = `properties.slow:${slow.pattern.replaceAll("%", "*")}`;
    const { json } = await ask("GET", `/__sim/events?filter=${encodeURIComponent(glob)}`);
    expect(json.events).toEqual([]);
    const match = { event: "long", properties: { text: { "@contains": long.part } } };
    const wait = await ask("POST", "/__sim/events/wait", { match, timeout_ms: 0 });
    expect(wait.status).toBe(409);
  });

  test("globs of paths and names", () => {
    const path = `/${slow.text}`;
    const glob = slow.pattern.replaceAll("%", "**");
    expect([glob, glob.replaceAll("**", "*")].map((it) => globs([it])(path))).toEqual([false, false]);
    expect(nameTest(slow.pattern.replaceAll("%", "*"))(slow.text)).toBe(false);
  });
});
