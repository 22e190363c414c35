import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readScenario, type Scenario, type Sim, startSim } from "../../../src/index.ts";
import { openUpstreams } from "../../../src/lab/tapes/upstream/upstreams.ts";
import { openService } from "../../../src/tools/live-project/service.ts";
import { key, newFolder, phxSim } from "./command-line.ts";
import { liveScenario } from "./live.ts";

async function simOf(scenario: Scenario | string): Promise<Sim> {
  const sim = await startSim({ scenario, port: 0, clock: "2026-03-01T12:00:00Z" });
  onTestFinished(() => sim.close());
  return sim;
}

const pull = (sim: { url: string }, cwd: string, ...more: string[]) =>
  phxSim(["pull", "--upstream", sim.url, "--project", "7", ...more], cwd);

const shown = (sim: Sim) => fetch(`${sim.url}/__sim/requests?limit=5000`).then((it) => it.json());

interface Shown {
  requests: { method: string; target: string }[];
}

/** What an SDK asks for one of the 1,000 persons; properties and groups vary. */
const asked = (i: number) => ({
  token: "phc_live",
  distinct_id: `person-${i}`,
  person_properties: {
    email: `p${i}@${["acme.com", "example.org", "elsewhere.test"][i % 3]}`,
    plan: ["free", "pro", "enterprise"][i % 3],
    age: 18 + (i % 60),
    visits: i % 25,
    app_version: `${i % 4}.${i % 7}.0`,
    signed_up: `202${i % 6}-0${1 + (i % 9)}-01`,
    country: ["DE", "US", "FR", "JP"][i % 4],
    ...(i % 5 === 0 && { beta: true }),
  },
  ...(i % 2 === 0 && {
    groups: { company: `company-${i % 40}`, team: `team-${i % 9}` },
    group_properties: {
      company: { size: i % 300, plan: i % 4 === 0 ? "enterprise" : "starter" },
      team: { name: `t${i % 3}` },
    },
  }),
  ...(i % 3 === 0 && { $device_id: `device-${i}` }),
  ...(i % 4 === 0 && { $anon_distinct_id: `anonymous-${i}` }),
});

async function answers(sim: Sim, body: object): Promise<unknown> {
  const response = await fetch(`${sim.url}/flags/?v=2`, { method: "POST", body: JSON.stringify(body) });
  const { flags } = (await response.json()) as { flags: Record<string, unknown> };
  return flags;
}

/** A service that answers with the live sim's replies, except where a test says otherwise. */
async function between(
  sim: Sim,
  answer: (req: IncomingMessage, res: ServerResponse) => boolean,
): Promise<{ url: string; targets: string[] }> {
  const targets: string[] = [];
  const server = createServer(async (req, res) => {
    targets.push(req.url ?? "");
    if (answer(req, res)) return;
    const { authorization = "" } = req.headers;
    const found = await fetch(sim.url + req.url, { headers: authorization ? { authorization } : {} });
    const text = (await found.text()).replaceAll(sim.url, `http://${req.headers.host}`);
    res.writeHead(found.status, { "content-type": "application/json" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`, targets };
}

describe("a twin of a live project", () => {
  test("1,000 persons get the same flags and payloads; only GET arrives, never about persons or events", async () => {
    const live = await simOf(liveScenario);
    const cwd = newFolder();
    const { code, stdout, stderr } = await pull(
      live,
      cwd,
      "--keep-values",
      "boss@acme.com",
      "--keep-values",
      "p9@acme.com",
    );
    expect(stderr).toContain("pulled: ");
    expect(stdout).toBe("twin.json is written; start it with: phx-sim start --scenario twin.json\n");
    expect(code).toBe(0);

    const { requests } = (await shown(live)) as Shown;
    expect(requests.length).toBeGreaterThan(10);
    expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(requests.some(({ target }) => target.startsWith("/api/projects/7/feature_flags/"))).toBe(true);
    expect(requests.filter(({ target }) => /\/(persons|events|query|groups)\b/.test(target))).toEqual([]);

    expect((await readScenario(join(cwd, "twin.json"))).problems).toEqual([]);
    const pulled = await simOf(join(cwd, "twin.json"));
    const first = (await answers(live, asked(0))) as object;
    expect(Object.keys(first).length).toBeGreaterThan(25);
    const served = new Set<string>();
    for (let i = 0; i < 1000; i++) {
      const [theirs, ours] = await Promise.all([answers(live, asked(i)), answers(pulled, asked(i))]);
      expect(ours).toEqual(theirs);
      served.add(JSON.stringify(theirs));
    }
    // the flags do tell persons apart
    expect(served.size).toBeGreaterThan(100);
  });
});

describe("what is not written", () => {
  /** Nothing is written, not even a draft. */
  const expectNothing = (cwd: string) => expect(readdirSync(cwd)).toEqual([]);
  const on =
    (path: string, status: number, body: string, headers: Record<string, string> = {}) =>
    (req: IncomingMessage, res: ServerResponse): boolean => {
      if (!req.url?.startsWith(path)) return false;
      res.writeHead(status, headers).end(body);
      return true;
    };

  test("a key that the service does not know", async () => {
    const live = await simOf(liveScenario);
    const cwd = newFolder();
    const env = { POSTHOG_PERSONAL_API_KEY: "phx_other" };
    const { code, stderr } = await phxSim(["pull", "--upstream", live.url, "--project", "7"], cwd, env);
    expect(stderr).toMatch(/^phx-sim: \S+\/api\/projects\/7\/ refuses the key \(401\): /);
    expect(stderr).not.toContain("phx_other");
    expect(code).toBe(2);
    expectNothing(cwd);
  });

  test("a key without a scope: the service's answer names it", async () => {
    const live = await simOf({
      ...liveScenario,
      personal_api_keys: [{ key, scopes: ["project:read", "feature_flag:read"] }],
    });
    const cwd = newFolder();
    const { code, stderr } = await pull(live, cwd);
    expect(stderr).toMatch(/\/cohorts\/ refuses the key \(403\): .*cohort:read/);
    expect(code).toBe(2);
    expectNothing(cwd);
  });

  test("a project that does not exist", async () => {
    const live = await simOf(liveScenario);
    const cwd = newFolder();
    const { code, stderr } = await phxSim(["pull", "--upstream", live.url, "--project", "8"], cwd);
    expect(stderr).toBe("phx-sim: there is no project 8 that the key may read (404)\n");
    expect(code).toBe(2);
    expectNothing(cwd);
  });

  test("no service there", async () => {
    const gone = await startSim({ port: 0 });
    await gone.close();
    const cwd = newFolder();
    const { code, stderr } = await pull(gone, cwd);
    expect(stderr).toContain("gave no response: nothing listens there");
    expect(code).toBe(4);
    expectNothing(cwd);
  });

  test.each([401, 500])("what the service says about a refusal is printed without secrets (%i)", async (status) => {
    const token = `sk-ant-api03-${"a1B2".repeat(10)}`;
    const detail = `not ${key}, nor ${token}; see https://sso.test/cb?code=${"a1B2".repeat(6)}&state=x, password=hunter22`;
    const live = await between(
      await simOf(liveScenario),
      on("/api/projects/7/cohorts", status, JSON.stringify({ detail })),
    );
    const { stderr } = await pull(live, newFolder());
    expect(stderr).toContain(`${status}`);
    expect(stderr).toContain("see https://sso.test/cb");
    expect(stderr).not.toMatch(/a1B2|hunter22/);
    expect(stderr).not.toContain(key);
  });

  test("an answer that is not JSON", async () => {
    const live = await between(await simOf(liveScenario), on("/api/projects/7/cohorts", 200, "<html>"));
    const cwd = newFolder();
    const { code, stderr } = await pull(live, cwd);
    expect(stderr).toMatch(/\/cohorts\/ did not answer with JSON\n$/);
    expect(code).toBe(4);
    expectNothing(cwd);
  });

  test("a page in the middle fails: the file that is there stays whole", async () => {
    const flags = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`flag-${i}`, true]));
    const many = await simOf({
      version: 1,
      organizations: [{ name: "Live", projects: [{ id: 7, name: "Many", api_key: "phc_live", flags }] }],
      personal_api_keys: [{ key, scopes: ["*"] }],
    });
    const cwd = newFolder();
    const file = join(cwd, "twin.json");
    expect((await pull(many, cwd)).stderr).toContain("pulled: 250 flags");
    const before = readFileSync(file, "utf8");
    const live = await between(many, (req, res) => {
      if (!/feature_flags.*offset=100/.test(req.url ?? "")) return false;
      res.writeHead(500).end("{}");
      return true;
    });
    const { code, stderr } = await pull(live, cwd, "--force");
    expect(stderr).toMatch(/feature_flags\/ answered with status 500\n$/);
    expect(code).toBe(4);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(readdirSync(cwd)).toEqual(["twin.json"]);
  });

  test("a next page on another host is not asked for", async () => {
    const other = await between(await simOf(liveScenario), () => false);
    const page = JSON.stringify({ results: [], next: `${other.url}/api/projects/7/feature_flags/?offset=1` });
    const live = await between(await simOf(liveScenario), on("/api/projects/7/feature_flags", 200, page));
    const cwd = newFolder();
    const { code, stderr } = await pull(live, cwd);
    expect(stderr).toContain("names a next page elsewhere; it is not followed");
    expect(code).toBe(4);
    expect(other.targets).toEqual([]);
    expectNothing(cwd);
  });

  test("a redirect is not followed, so that the key goes nowhere else", async () => {
    const other = await between(await simOf(liveScenario), () => false);
    const live = await between(
      await simOf(liveScenario),
      on("/api/projects/7/", 302, "", { location: `${other.url}/api/projects/7/` }),
    );
    const cwd = newFolder();
    expect((await pull(live, cwd)).code).toBe(4);
    expect(other.targets).toEqual([]);
    expectNothing(cwd);
  });

  test("a limit of the rate is waited for, but not for ever", async () => {
    let refused = 0;
    const limited = (after: string, times: number) => (req: IncomingMessage, res: ServerResponse) => {
      if (!req.url?.startsWith("/api/projects/7/cohorts") || refused === times) return false;
      refused++;
      res.writeHead(429, { "retry-after": after }).end("{}");
      return true;
    };
    const sim = await simOf(liveScenario);
    const cwd = newFolder();
    const soon = await between(sim, limited("0", 2));
    expect((await pull(soon, cwd)).code).toBe(0);
    expect(refused).toBe(2);
    refused = 0;
    const late = await between(sim, limited("3600", 9));
    const { code, stderr } = await pull(late, cwd, "--out", "other.json");
    expect(stderr).toContain("limits the rate (429) for too long; try again later");
    expect(code).toBe(4);
    expect(refused).toBe(1);
    expect(readdirSync(cwd)).toEqual(["twin.json"]);
  });

  test.each([
    [["--project", "7"], "--upstream is missing"],
    [["--upstream", "http://127.0.0.1:1"], "--project must be the number"],
    [["--upstream", "http://127.0.0.1:1", "--project", "shop"], "--project must be the number"],
    [["--upstream", "http://127.0.0.1:1", "--project", "7", "--out", "a.txt"], "a.txt must end in .json"],
    [["--upstream", "ftp://x", "--project", "7"], "is not an upstream"],
    [["--upstream", "http://posthog.example", "--project", "7"], "would travel unencrypted"],
    [["--upstream", "us", "--project", "7", "--key-env", "NONE"], "set NONE to a personal API key"],
  ])("%j", async (args, message) => {
    const cwd = newFolder();
    const { code, stderr } = await phxSim(["pull", ...args], cwd);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expectNothing(cwd);
  });

  test("offline, and in CI, the real service is not asked", async () => {
    const cwd = newFolder();
    const { code, stderr } = await phxSim(["pull", "--upstream", "us", "--project", "7", "--offline"], cwd);
    expect(stderr).toContain("must not be reached: offline is on");
    expect(code).toBe(4);
  });

  test("a file that exists is kept without --force", async () => {
    const live = await simOf(liveScenario);
    const cwd = newFolder();
    writeFileSync(join(cwd, "twin.json"), "mine");
    const { code, stderr } = await pull(live, cwd);
    expect(stderr).toBe("phx-sim: twin.json already exists; --force writes over it\n");
    expect(code).toBe(1);
    expect(readFileSync(join(cwd, "twin.json"), "utf8")).toBe("mine");
    expect(((await shown(live)) as Shown).requests).toEqual([]);
  });
});

describe("the summary", () => {
  test("lists what is redacted, left out and not offered; no value of it is printed or written", async () => {
    const live = await simOf(liveScenario);
    const cwd = newFolder();
    const { stdout, stderr } = await pull(live, cwd, "--json");
    const summary = JSON.parse(stdout);
    expect(summary.redacted).toContainEqual({
      path: "flags.boss.filters.groups[0].properties[0].value[0]",
      decides: true,
    });
    expect(summary.redacted).toContainEqual({ path: "dashboards.71.tiles[1].text", decides: false });
    expect(summary.left_out).toContainEqual({
      kind: "cohort",
      id: "33",
      why: "the members of a static cohort: persons are not pulled",
    });
    const text = readFileSync(join(cwd, "twin.json"), "utf8");
    for (const secret of ["boss@acme.com", "ada@acme.com", "xena", "B00000000", "phs_live", key])
      expect(text + stdout + stderr).not.toContain(secret);
    expect(text).toContain("user1@example.test");
    expect(JSON.parse(text.replace(/^\/\/.*$/gm, "")).organizations[0].projects[0]).toMatchObject({
      surveys: [{ name: "How was it?", linked_flag_id: 101, internal_targeting_flag_id: 190 }],
      property_definitions: [
        { name: "amount", type: "event" },
        { name: "plan", type: "person" },
        { name: "size", type: "group", group_type_index: 0 },
      ],
      dashboards: [{ id: 71, tiles: [{ insight: "Revenue" }, { text: "Ask user3@example.test" }] }],
      settings: {
        minimal_flag_called_events: true,
        session_recording_trigger_groups: { version: 2, groups: [{ id: "errors" }] },
      },
      remote_config: {
        heatmaps: true,
        sessionRecording: {
          sampleRate: "0.5",
          version: 2,
          triggerGroups: [{ id: "errors", conditions: { events: [{ name: "error" }] } }],
        },
      },
    });
  });

  test("kinds that the upstream does not have are named", async () => {
    const live = await between(await simOf(liveScenario), (req, res) => {
      if (!req.url?.startsWith("/api/projects/7/surveys")) return false;
      res.writeHead(404).end("{}");
      return true;
    });
    const cwd = newFolder();
    const { code, stderr } = await pull(live, cwd);
    expect(stderr).toMatch(/^not offered by this upstream: surveys/m);
    expect(code).toBe(0);
  });
});

describe("kinds that only some services manage", () => {
  /** A list of a service, in front of the live sim. */
  const listed = (path: string, items: object[]) => (req: IncomingMessage, res: ServerResponse) => {
    if (!req.url?.startsWith(`/api/projects/7/${path}/`)) return false;
    res.writeHead(200).end(JSON.stringify({ count: items.length, next: null, results: items }));
    return true;
  };

  test("early access features: SDKs get them from the twin, with the key of their flag", async () => {
    const feature = {
      id: "0195a000-7000-7000-8000-0000000000e1",
      feature_flag: { id: 102, key: "rollout-50" },
      name: "Faster",
      description: "",
      stage: "beta",
      documentation_url: "https://docs.example/faster",
      created_at: "2025-02-01T00:00:00Z",
    };
    const answer = listed("early_access_feature", [feature]);
    const live = await between(await simOf(liveScenario), answer);
    const cwd = newFolder();
    expect((await pull(live, cwd)).code).toBe(0);
    const pulled = await simOf(join(cwd, "twin.json"));
    const response = await fetch(`${pulled.url}/api/early_access_features/?token=phc_live`);
    expect(await response.json()).toMatchObject({
      earlyAccessFeatures: [{ id: feature.id, name: "Faster", stage: "beta", flagKey: "rollout-50" }],
    });
  });

  test("documents that a scenario cannot hold are listed, one by one", async () => {
    const insight = { id: 63, name: "Broken", short_id: "not a short id", query: null };
    const live = await between(await simOf(liveScenario), listed("insights", [insight]));
    const cwd = newFolder();
    const { code, stderr } = await pull(live, cwd);
    expect(stderr).toMatch(/^left out: insight 63: short_id: expected letters and digits, at most 12/m);
    expect(code).toBe(0);
    expect((await readScenario(join(cwd, "twin.json"))).problems).toEqual([]);
  });

  test("a project that no scenario can have is refused whole", async () => {
    const live = await between(await simOf(liveScenario), (req, res) => {
      if (req.url !== "/api/projects/7/") return false;
      res.writeHead(200).end(JSON.stringify({ id: 7, name: "Odd", api_token: "phx_personal" }));
      return true;
    });
    const cwd = newFolder();
    const { code, stderr } = await pull(live, cwd);
    expect(stderr).toContain("a scenario cannot have this project: expected a project key");
    expect(code).toBe(4);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("a service that does not finish its answer is given up", async () => {
    const live = await between(await simOf(liveScenario), (_, res) => {
      res.writeHead(200).write("[");
      return true;
    });
    const upstreams = openUpstreams(live.url, "no");
    const service = openService({ upstreams, key, answerMs: 100 });
    await expect(service.read("/api/projects/7/")).rejects.toThrow("it does not answer (ETIMEDOUT)");
    service.close();
  });
});

describe("--check", () => {
  test("an unchanged project: exit code 0; changes: a line each, exit code 1", async () => {
    const live = await simOf(liveScenario);
    const cwd = newFolder();
    await pull(live, cwd);
    const same = await pull(live, cwd, "--check");
    expect(same).toMatchObject({ code: 0, stdout: "twin.json: the live project is the same\n" });

    const call = (method: string, path: string, body: object) =>
      fetch(`${live.url}/api/projects/7/${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }).then((it) => expect(it.ok).toBe(true));
    await call("POST", "feature_flags/", { key: "new", filters: { groups: [] } });
    await call("PATCH", "feature_flags/102/", { filters: { groups: [{ properties: [], rollout_percentage: 60 }] } });
    await call("PATCH", "actions/51/", { deleted: true });
    const changed = await pull(live, cwd, "--check");
    expect(changed.code).toBe(1);
    expect(changed.stdout.split("\n")).toEqual(
      expect.arrayContaining([
        "changed flag rollout-50: filters.groups[0].rollout_percentage: 50 → 60",
        "added flag new",
        "removed action 51",
      ]),
    );
    const { same: isSame, changes } = JSON.parse((await pull(live, cwd, "--check", "--json")).stdout);
    expect(isSame).toBe(false);
    expect(changes).toContainEqual({
      what: "changed",
      kind: "flag",
      id: "rollout-50",
      path: "filters.groups[0].rollout_percentage",
      before: 50,
      after: 60,
    });
  });

  test("a missing file, and one that is no scenario", async () => {
    const live = await simOf(liveScenario);
    const cwd = newFolder();
    const missing = await pull(live, cwd, "--check");
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain("there is no twin.json; `phx-sim pull` writes it");
    writeFileSync(join(cwd, "twin.json"), "{");
    expect(await pull(live, cwd, "--check")).toMatchObject({ code: 2 });
  });
});
