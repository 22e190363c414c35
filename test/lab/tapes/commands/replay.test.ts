import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { childCall, endAll, newFolder, phxSim } from "../../../support/phx-sim.ts";
import { answer, exchange, tapeOf } from "../replay/tapes.ts";

afterEach(endAll);

const tape = () =>
  tapeOf([
    exchange("GET /api/projects/1/dashboards/", answer({ results: [] })),
    exchange("GET /api/users/@me/", answer({ id: 1 })),
  ]);

/** A command that asks for these paths and prints the statuses. */
const asking = (...paths: string[]): string[] => [
  process.execPath,
  "--input-type=module",
  "-e",
  `${childCall}
   for (const path of ${JSON.stringify(paths)}) {
     const { status, headers } = await call("GET", path);
     console.log(status, headers["x-phx-source"]);
   }`,
];

const run = (args: readonly string[], ...command: readonly string[]) =>
  phxSim([...args, "--", ...command], { cwd: newFolder() }).ended;

const dashboards = "/api/projects/1/dashboards/";
const flagsPath = "/api/projects/1/feature_flags/";

describe("with a command", () => {
  test("all on the tape: the command's own exit code, and what was not used", async () => {
    const { code, stdout, stderr } = await run(["replay", await tape()], ...asking(dashboards));
    expect([code, stdout]).toEqual([0, "200 tape:checkout#1\n"]);
    expect(stderr).toContain("phx-sim: tape checkout: 1 of 2 exchanges used, 0 requests missed, 1 unused\n");
    expect(stderr).toContain("  unused #2 GET /api/users/@me/\n");
  });

  test.each([
    ["replay", (file: string) => ["replay", file]],
    ["exec --tape", (file: string) => ["exec", "--tape", file]],
  ])("%s fails when it asked for what does not exist", async (_, args) => {
    const { code, stdout, stderr } = await run(args(await tape()), ...asking(flagsPath, flagsPath));
    expect([code, stdout]).toEqual([1, "599 tape:checkout\n".repeat(2)]);
    expect(stderr).toContain("0 of 2 exchanges used, 2 requests missed, 2 unused\n");
    expect(stderr).toContain(`  missed GET ${flagsPath} ×2\n    nearest #1 GET ${dashboards}`);
  });

  const personal = () =>
    tapeOf(
      ["anna", "carl"].map((distinct_id) =>
        exchange("POST /flags/?v=2", answer({ of: distinct_id }), { body: { token: "phc_a", distinct_id } }),
      ),
    );
  const ben = [
    process.execPath,
    "--input-type=module",
    "-e",
    `${childCall}
     const body = JSON.stringify({ token: "phc_a", distinct_id: "ben" });
     const { status, headers, text } = await call("POST", "/flags/?v=2", body);
     console.log(status, headers["x-phx-source"], headers["x-phx-approximate"], JSON.parse(text).of);`,
  ];

  test("a person who is not on the tape gets no other person's flags", async () => {
    const { code, stdout, stderr } = await run(["replay", await personal()], ...ben);
    expect([code, stdout]).toEqual([1, "599 tape:checkout undefined undefined\n"]);
    expect(stderr).toContain("1 request missed");
  });

  test("--approximate gives them, and marks header, log, summary and --json", async () => {
    const { code, stdout, stderr } = await run(["replay", await personal(), "--approximate", "--json"], ...ben);
    expect(code).toBe(0);
    expect(stdout + stderr).toMatch(/200 tape:checkout#\d another_person another_person (?:anna|carl)\n/);
    expect(stdout).toMatch(/"missed": ?0,\s*"approximate": ?1/);
    expect(stderr).toContain("1 answer for flags of another person, group or other properties");
  });

  test("--on-miss emulate does not", async () => {
    const args = ["replay", await tape(), "--on-miss", "emulate", "--timing", "max:10"];
    const { code, stdout } = await run(args, ...asking(dashboards, "/api/projects/1/"));
    expect([code, stdout]).toEqual([0, "200 tape:checkout#1\n401 emulator\n"]);
  });

  test("no request reached it: said at the end, in --json, and with the flag that helps", async () => {
    const args = ["replay", await tape(), "--json"];
    const { code, stdout, stderr } = await run(args, process.execPath, "-e", "");
    expect(code).toBe(0);
    expect(stderr).toContain("0 of 2 exchanges used");
    expect(stderr).toMatch(
      /no request reached it: the app's host must be http:\S+; if the host is hard-coded, add --reroute\n/,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      exit_code: 0,
      tape: { name: "checkout", requests: 0, used: 0, exchanges: 2, advice: expect.stringContaining("--reroute") },
    });
  });

  test("--reroute: a hard-coded host, links with its scheme; without a command it is refused", async () => {
    const list = "https://us.posthog.com/api/projects/1/dashboards/";
    const file = await tapeOf([
      exchange("GET /api/projects/1/dashboards/", answer({ next: `${list}?offset=1` }), { url: list }),
      exchange("GET /api/projects/1/dashboards/?offset=1", answer({ next: null }), { url: `${list}?offset=1` }),
    ]);
    const code = `for (let url = ${JSON.stringify(list)}; url; url = (await (await fetch(url)).json()).next) console.log(url);`;
    const env = { PHX_SIM_CA_DIR: join(newFolder(), "ca") };
    const command = [process.execPath, "--input-type=module", "-e", code];
    const ended = await phxSim(["replay", file, "--reroute", "--", ...command], { cwd: newFolder(), env }).ended;
    expect([ended.stdout, ended.code]).toEqual([`${list}\n${list}?offset=1\n`, 0]);
    expect(ended.stderr).toContain("2 of 2 exchanges used, 0 requests missed, 0 unused\n");
    const refused = await phxSim(["replay", file, "--reroute"], { cwd: newFolder() }).ended;
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--reroute needs a command")]);
  });

  test("captures are no unused exchanges; their events are what counts", async () => {
    const capture = (event: string) =>
      exchange("POST /capture/", answer({ status: 1 }), { body: { api_key: "phc_a", event, distinct_id: "u" } });
    const file = await tapeOf([capture("bought"), capture("sold"), capture("sold")]);
    const body = JSON.stringify({ api_key: "phc_a", event: "bought", distinct_id: "u" });
    const code = `${childCall} await call("POST", "/capture/", '${body}');`;
    const { stderr } = await run(["replay", file], process.execPath, "--input-type=module", "-e", code);
    expect(stderr).toContain("0 of 0 exchanges used, 0 requests missed, 0 unused\n");
    expect(stderr).toContain(
      "  3 captures on it, which the emulator answers; 2 of 3 events were not sent again: sold ×2\n",
    );
    expect(stderr).not.toContain("no request reached it");
  });

  test("a recorded 429 is given; --skip-status leaves it out, and says so", async () => {
    const file = await tapeOf([
      exchange(`GET ${dashboards}`, answer({ code: "throttled" }, { status: 429 })),
      exchange(`GET ${dashboards}`, answer({ results: [] })),
    ]);
    const twice = asking(dashboards, dashboards);
    const first = await run(["replay", file], ...twice);
    expect([first.code, first.stdout]).toEqual([0, "429 tape:checkout#1\n200 tape:checkout#2\n"]);
    const second = await run(["replay", file, "--skip-status", "429,503"], ...twice);
    expect(second.stdout).toBe("200 tape:checkout#2\n".repeat(2));
    expect(second.stderr).toContain(`  left out #1 GET ${dashboards}: its status 429 is skipped\n`);
    const refused = await run(["replay", file, "--skip-status", "4xx"], ...twice);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('such as 429, not "4xx"')]);
  });

  test("the command's own failure stays", async () => {
    const { code } = await run(["replay", await tape()], process.execPath, "-e", "process.exit(7)");
    expect(code).toBe(7);
  });
});

describe("served", () => {
  test.each([
    [dashboards, 200, 130],
    [flagsPath, 599, 1],
  ])("%s is answered %i; ended by ctrl-c it exits with %i", async (path, status, expected) => {
    const sim = phxSim(["replay", await tape(), "--port", "0", "--memory", "--json"], { cwd: newFolder() });
    const [, url = ""] = await sim.says("stdout", /"url":"([^"]+)"/);
    expect((await fetch(url + path)).status).toBe(status);
    const { code, stderr } = await sim.signal("SIGINT");
    expect(code).toBe(expected);
    expect(stderr).toMatch(/phx-sim: tape checkout: [01] of 2 exchanges used/);
  });

  test("is in memory: two in one folder do not meet, and nothing is left; --data keeps", async () => {
    const cwd = newFolder();
    const env = { PHX_SIM_DATA: "shared" };
    const file = await tape();
    const args = ["replay", file, "--port", "0", "--json"];
    const both = [phxSim(args, { cwd, env }), phxSim(args, { cwd, env })];
    await Promise.all(both.map((sim) => sim.says("stdout", /^\{.*\}\n/)));
    for (const sim of both) expect(await sim.signal("SIGINT")).toMatchObject({ code: 130 });
    expect(readdirSync(cwd)).toEqual([]);
    const kept = phxSim([...args, "--data", "mine"], { cwd, env });
    await kept.says("stdout", /^\{.*\}\n/);
    await kept.signal("SIGINT");
    expect(readdirSync(cwd)).toEqual(["mine"]);
    expect(await phxSim([...args, "--fresh"], { cwd }).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--fresh needs --data: a replay is in memory"),
    });
    expect(await phxSim([...args, "--data", "mine", "--", "true"], { cwd }).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--data does not go with a command after --"),
    });
  });

  test("start --tape does the same", async () => {
    const args = ["start", "--tape", await tape(), "--port", "0", "--memory", "--json"];
    const sim = phxSim(args, { cwd: newFolder() });
    const [, url = ""] = await sim.says("stdout", /"url":"([^"]+)"/);
    expect((await fetch(url + dashboards)).headers.get("x-phx-source")).toBe("tape:checkout#1");
  });
});

describe("mistakes", () => {
  test.each<[string, string[], number, RegExp]>([
    [
      "no such tape",
      ["replay", "gone", "--port", "0"],
      3,
      /tapes.gone\.tape\.ndjson cannot be read: there is no such file/,
    ],
    ["no tape", ["replay", "package.json", "--port", "0"], 3, /no such file/],
    ["no name", ["replay"], 2, /tape/i],
    ["a policy there is not", ["replay", "x", "--on-miss", "upstraem"], 2, /--on-miss must be fail, emulate/],
    ["a timing there is not", ["replay", "x", "--timing", "soon", "--port", "0"], 3, /timing must be none, recorded/],
    [
      "a policy without a tape",
      ["start", "--on-miss", "fail", "--port", "0", "--memory"],
      3,
      /there is no tape to replay/,
    ],
    ["how to serve, with a command", ["replay", "x", "--open", "--", "true"], 2, /--open does not go with a command/],
    ["nothing after --", ["replay", "x", "--"], 2, /needs -- and a command after it/],
  ])("%s", async (_, args, expected, said) => {
    const { code, stderr } = await phxSim(args, { cwd: newFolder() }).ended;
    expect(stderr).toMatch(said);
    expect(code).toBe(expected);
  });

  test("the help names its options", async () => {
    const { code, stdout } = await phxSim(["replay", "--help"], { cwd: join(newFolder()) }).ended;
    expect(code).toBe(0);
    for (const word of ["phx-sim replay <tape>", "--on-miss", "--timing", "-- npm test"])
      expect(stdout).toContain(word);
  });
});
