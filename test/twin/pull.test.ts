import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type AuthoredScenario, readScenario, type Sim, startSim } from "../../src/index.ts";
import { key, newFolder, phxSim } from "./command-line.ts";
import { liveScenario } from "./live.ts";

async function simOf(scenario: AuthoredScenario | string): Promise<Sim> {
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
    expect(requests.filter(({ target }) => /\/(persons|events|query|groups)\b/.test(target))).toEqual([]);

    expect((await readScenario(join(cwd, "twin.json"))).problems).toEqual([]);
    const twin = await simOf(join(cwd, "twin.json"));
    const first = (await answers(live, asked(0))) as object;
    expect(Object.keys(first).length).toBeGreaterThan(25);
    const served = new Set<string>();
    for (let i = 0; i < 1000; i++) {
      const [theirs, ours] = await Promise.all([answers(live, asked(i)), answers(twin, asked(i))]);
      expect(ours).toEqual(theirs);
      served.add(JSON.stringify(theirs));
    }
    // the flags do tell persons apart
    expect(served.size).toBeGreaterThan(100);
  }, 60_000);
});
