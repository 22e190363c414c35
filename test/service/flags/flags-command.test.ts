import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { newFolder, runHere, startReady } from "../../support/phx-sim.ts";

const plan = { key: "plan", type: "person", operator: "exact", value: "pro" };
const sets = (...groups: object[]) => ({ filters: { groups } });
const email = { key: "email", type: "person", operator: "regex", value: "@acme\\.com$" };
const checkout = {
  groups: [{ properties: [email] }, { properties: [{ ...plan, value: ["pro"] }], rollout_percentage: 50 }],
  multivariate: { variants: ["control", "test"].map((key) => ({ key, rollout_percentage: 50 })) },
  payloads: { control: '{"cta":"Get"}' },
};
const pros = { properties: { type: "OR", values: [{ type: "AND", values: [plan] }] } };
const shop = {
  beta: true,
  checkout: { filters: checkout },
  pros: sets({ properties: [{ key: "id", type: "cohort", value: 5 }] }),
  stopped: { active: false, ...sets({ rollout_percentage: 100 }) },
};
const projects = [
  { id: 1, name: "Shop", api_key: "phc_shop", cohorts: [{ id: 5, name: "Pros", filters: pros }], flags: shop },
  { id: 2, name: "Blog", api_key: "phc_blog", flags: { "\u001b[2Jhostile": true } },
];
const personal_api_keys = [{ key: "phx_all", scopes: ["*"] }];
const scenario = { version: 1, organizations: [{ name: "Org", projects }], personal_api_keys };

const cwd = newFolder();
writeFileSync(join(cwd, "flags.json"), JSON.stringify(scenario));
const { ready } = await startReady(["--scenario", "./flags.json"], { cwd });
beforeEach(async () => {
  const answer = await fetch(`${ready.url}/__sim/reset`, { method: "POST" });
  expect(answer.status).toBe(200);
});

const post = (path: string, body: object) => fetch(ready.url + path, { method: "POST", body: JSON.stringify(body) });
const run = (args: string[], env: Record<string, string> = {}) => runHere(["flags", ...args], { cwd, env });

/** What a client gets. */
async function served(key: string, distinctId: string): Promise<unknown> {
  const answer = await post("/flags/?v=2", { token: "phc_shop", distinct_id: distinctId });
  const { flags } = (await answer.json()) as { flags: Record<string, { enabled: boolean; variant: string | null }> };
  return flags[key]?.variant ?? flags[key]?.enabled;
}

describe("set and unset", () => {
  const rows: [args: string[], said: string, key: string, value: unknown][] = [
    [["beta", "false"], "beta is now false for everybody", "beta", false],
    [["pros", "true"], "pros is now true for everybody", "pros", true],
    [["checkout", "test"], 'checkout is now "test" for everybody', "checkout", "test"],
    [["checkout", "control", "--distinct-id", "u1"], 'checkout is now "control" for u1', "checkout", "control"],
    [["checkout", "other", "--force"], 'checkout is now "other" for everybody', "checkout", "other"],
  ];
  test.each(rows)("set %j", async (args, said, key, value) => {
    expect(await run(["set", ...args])).toEqual({ code: 0, stdout: `${said}\n`, stderr: "" });
    expect(await served(key, "u1")).toBe(value);
  });

  test("a key that the project does not have is set with --force", async () => {
    expect(await run(["set", "chekout", "true", "--force"])).toEqual({
      code: 0,
      stdout: "chekout is now true for everybody\n",
      stderr: 'phx-sim: project 1 has no such flag; did you mean "checkout"?\n',
    });
  });

  test("unset", async () => {
    await run(["set", "beta", "false"]);
    await run(["set", "beta", "false", "--distinct-id", "u1"]);
    expect((await run(["unset", "beta", "--distinct-id", "u1"])).stdout).toBe("removed 1 override of beta\n");
    expect((await run(["unset", "beta"])).stdout).toBe("removed 1 override of beta\n");
    expect(await run(["unset", "beta"])).toMatchObject({ code: 0, stdout: "removed 0 overrides of beta\n" });
    expect(await served("beta", "u1")).toBe(true);
  });

  test("--json prints the answer", async () => {
    const args = ["checkout", "test", "--payload", '{"cta":"Now"}', "--project", "1", "--json"];
    expect(JSON.parse((await run(["set", ...args])).stdout)).toMatchObject({
      key: "checkout",
      value: "test",
      payload: { cta: "Now" },
      known: true,
    });
    expect(JSON.parse((await run(["unset", "checkout", "--json"])).stdout)).toEqual({ removed: 1 });
  });
});

describe("list", () => {
  test("by project; hostile keys are spelled out", async () => {
    await run(["set", "checkout", "test", "--distinct-id", "u1", "--payload", '{"cta":"Now"}']);
    await run(["set", "new", "true", "--force"]);
    const { code, stdout } = await run(["list"]);
    expect(code).toBe(0);
    expect(stdout.split("\n").map((line) => line.trimEnd())).toEqual([
      "project 1",
      "  beta            everyone: 100 %",
      '  checkout        email matches the pattern "@acme\\\\.com$": 100 %',
      '                  plan is "pro": 50 %',
      "                  variants: control 50 %, test 50 %",
      '                  overridden: "test" for u1, payload {"cta":"Now"}',
      '  pros            the person is in cohort "Pros" (5): 100 %',
      "  stopped         inactive",
      "                  everyone: 100 %",
      "  new             no such flag",
      "                  overridden: true for everybody",
      "project 2",
      "  \\x1b[2Jhostile  everyone: 100 %",
      "",
    ]);
  });

  test("--json", async () => {
    const { flags } = JSON.parse((await run(["list", "--project", "2", "--json"])).stdout);
    expect(flags).toMatchObject([{ project: 2, key: "\u001b[2Jhostile", overrides: [] }]);
  });
});

describe("explain", () => {
  const rows: [what: string, args: string[], lines: string[]][] = [
    [
      "a match, with its hashes and the variants' ranges",
      ["checkout", "--distinct-id", "u2", "--person", "plan=pro", "--person", '{"age": 3}'],
      [
        'checkout is "control" for u2, payload {"cta":"Get"}: Matched condition set 2',
        '  1 ✗ email matches the pattern "@acme\\\\.com$"  is not set',
        '  2 ✓ plan is "pro"  is "pro"',
        "    ✓ rollout 50 %  hash 0.0482 ≤ rollout 0.5",
        "    → control 0–0.5, test 0.5–1  hash 0.1234",
      ],
    ],
    [
      "no match, and what would have had to differ",
      ["checkout", "--distinct-id", "u2", "--person", "plan=free"],
      [
        "checkout is false for u2: No matching condition set",
        '  1 ✗ email matches the pattern "@acme\\\\.com$"  is not set',
        '  2 ✗ plan is "pro"  is "free"',
        "  why not:",
        '    condition 1: requires that email matches the pattern "@acme\\\\.com$", but it is not set',
        '    condition 2: requires that plan is "pro", but it is "free"',
      ],
    ],
    [
      "a cohort, with its conditions",
      ["pros", "--distinct-id", "user-1"],
      [
        "pros is false for user-1: No matching condition set",
        '  1 ✗ the person is in cohort "Pros" (5)  is not a member',
        "      ✗ any of",
        "        ✗ all of",
        '          ✗ plan is "pro"  is not set',
        "  why not:",
        '    condition 1: requires that the person is in cohort "Pros" (5)',
      ],
    ],
    [
      "an inactive flag",
      ["stopped", "--distinct-id", "user-1"],
      [
        "stopped is false for user-1: Feature flag is disabled",
        "  1 ✓ rollout 100 %  everyone  (not reached)",
        "  why not:",
        "    the flag is inactive or deleted",
      ],
    ],
  ];
  test.each(rows)("%s", async (_, args, lines) => {
    const { code, stdout, stderr } = await run(["explain", ...args]);
    const digits = (text: string) => text.replace(/hash \d\.\d{4}/g, "hash 0.0000");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(digits(stdout).trimEnd().split("\n")).toEqual(lines.map(digits));
  });

  test("an override, and what the rules would have said", async () => {
    await run(["set", "pros", "true"]);
    const { stdout } = await run(["explain", "pros", "--distinct-id", "user-1"]);
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      "pros is true for user-1: Overridden in phx-sim",
      "  overridden for everybody; its rules give false: No matching condition set",
    ]);
  });

  test("is coloured on demand only", async () => {
    const start = "\u001b[";
    expect((await run(["explain", "pros", "--distinct-id", "user-1"])).stdout).not.toContain(start);
    expect((await run(["explain", "pros", "--distinct-id", "user-1"], { FORCE_COLOR: "1" })).stdout).toContain(
      `${start}31m✗`,
    );
  });

  test("--json prints the answer", async () => {
    const args = ["--group", "company:acme", "--group-property", "company.plan=pro", "--ip", "127.0.0.1"];
    const { stdout } = await run(["explain", "beta", "--distinct-id", "u1", ...args, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ key: "beta", value: true, override: null, conditions: [{}] });
  });
});

test("simulate", async () => {
  const args = ["simulate", "checkout", "--count", "2000", "--person", "plan=pro"];
  const { code, stdout } = await run(args);
  expect(code).toBe(0);
  const [head, ...rows] = stdout.trimEnd().split("\n");
  expect(head).toBe("checkout for 2,000 generated users");
  const parts = rows.map((row) => /^ {2}("control"|"test"|false) +█+ +([\d.]+) % +([\d,]+)$/.exec(row));
  expect(parts.map((part) => part?.[1])).toEqual(['"control"', '"test"', "false"]);
  const { values } = JSON.parse((await run([...args, "--json"])).stdout);
  expect(parts.map((part) => part?.[3]?.replace(",", ""))).toEqual(
    values.map((it: { count: number }) => String(it.count)),
  );
});

test("decisions", async () => {
  const none = await run(["decisions"]);
  expect(none).toEqual({ code: 0, stdout: "no flags were requested\n", stderr: "" });
  for (const id of ["anna", "ben", "\u001b[2Jeve"]) await served("beta", id);
  for (let i = 0; i < 3; i++)
    await post("/capture/", {
      ...{ api_key: "phc_shop", event: "$feature_flag_called", distinct_id: "anna" },
      properties: { $feature_flag: "beta", $feature_flag_response: i > 0 },
    });
  const { stdout } = await run(["decisions", "--key", "beta"]);
  expect(stdout).not.toContain("\u001b[2J");
  expect(stdout.match(/request \d+$/gm)).toHaveLength(3);
  const anna = await run(["decisions", "--key", "beta", "--distinct-id", "anna"]);
  expect(anna.stdout.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/^\d{4}-.+Z {2}anna {2}request \d+$/),
    expect.stringMatching(/^ {2}beta true \(.+\), (?:used|the app used false)$/),
  ]);
  const { decisions } = JSON.parse((await run(["decisions", "--limit", "2", "--json"])).stdout);
  expect(decisions.map((it: { distinct_id: string }) => it.distinct_id)).toEqual(["\u001b[2Jeve", "ben"]);
});

describe("mistakes end with 2", () => {
  test.each([
    [["explain", "chekout", "--distinct-id", "u"], 'project 1 has no flag "chekout"; did you mean "checkout"?'],
    [["simulate", "chekout"], 'project 1 has no flag "chekout"; did you mean "checkout"?'],
    [["explain", "beta"], "flags explain needs --distinct-id, e.g. phx-sim flags explain beta --distinct-id user-1"],
    [["explain", "beta", "--distinct-id", "u", "--project", "9"], "there is no project 9; known projects: 1, 2"],
    [["set", "chekout", "true"], 'project 1 has no flag "chekout"; did you mean "checkout"?; --force sets it anyway'],
    [
      ["set", "checkout", "tset"],
      'VALUE: flag "checkout" has no variant "tset"; its variants: control, test; did you mean test?; --force sets it anyway',
    ],
    [["simulate", "beta", "--count", "0"], "--count: expected a number of at least 1, got 0"],
    [["set", "beta", "true", "--payload", "{"], '--payload must be JSON, not "{"'],
    [["list", "--jsn"], "unknown option --jsn; did you mean --json? (phx-sim flags list --help)"],
    [["set", "beta"], "flags set needs KEY and VALUE (phx-sim flags set --help)"],
    [[], "flags needs one of list, set, unset, explain, simulate, decisions (phx-sim flags --help)"],
  ])("%j", async (args, message) => {
    expect(await run(args)).toEqual({ code: 2, stdout: "", stderr: `phx-sim: ${message}\n` });
  });
});

test("without a sim they end with 5", async () => {
  const { code, stderr } = await run(["list", "--url", "http://127.0.0.1:1"]);
  expect({ code, stderr }).toEqual({
    code: 5,
    stderr: "phx-sim: no phx-sim answers at http://127.0.0.1:1 (from --url)\n",
  });
});
