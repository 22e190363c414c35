import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../../src/index.ts";
import { readTape } from "../../../../src/lab/tapes/format/read.ts";
import { endAll, newFolder, phxSim, type Ready } from "../../../support/phx-sim.ts";

const clouds: Sim[] = [];
afterEach(async () => {
  await endAll();
  for (const it of clouds.splice(0)) await it.close();
});

async function cloud(): Promise<Sim> {
  const sim = await startSim({ dialect: "production" });
  clouds.push(sim);
  return sim;
}

const script = (code: string) => ["--", process.execPath, "--input-type=module", "-e", code];
const sending = (key: string) =>
  `const r = await fetch(process.env.POSTHOG_HOST + "/capture/", {
    method: "POST", body: JSON.stringify({ api_key: ${JSON.stringify(key)}, event: "bought", distinct_id: "u1" }) });
   console.log(r.status + " " + process.env.POSTHOG_API_KEY);`;

describe("phx-sim record", () => {
  test("serves, shows live, tapes, and reports how it went", async () => {
    const far = await cloud();
    const cwd = newFolder();
    const run = phxSim(["record", "--upstream", far.url, "--tape", "shop", "--port", "0", "--json"], { cwd });
    const [line = ""] = await run.says("stdout", /\{.*\}/);
    const { url }: Ready = JSON.parse(line);
    const body = JSON.stringify({ api_key: far.apiKey, event: "bought", distinct_id: "u1" });
    expect((await fetch(`${url}/capture/`, { method: "POST", body })).status).toBe(200);
    await run.says("stderr", /POST \/capture\/ 200 {2}upstream {2}1 event kept: bought/);
    const { code, stderr } = await run.signal("SIGINT");
    expect(code).toBe(130);
    expect(stderr).toContain(`phx-sim: record: requests go to ${far.url}, taped on ${cwd}/tapes/shop.tape.ndjson`);
    expect(stderr).toMatch(/phx-sim: 1 request passed on, \d+ bytes out, \d+ bytes back/);
    expect(stderr).toMatch(/phx-sim: 1 exchange on .*shop\.tape\.ndjson, \d+ secrets? redacted/);
    const routes: string[] = [];
    for await (const it of readTape(join(cwd, "tapes/shop.tape.ndjson"))) routes.push(it.route);
    expect(routes).toEqual(["capture"]);
    expect(await far.events.list()).toHaveLength(1);
  });

  test("the banner helps: where to point the app, no keys of the emulator's", async () => {
    const far = await cloud();
    const args = ["record", "--upstream", far.url, "--tape", "shop", "--port", "0"];
    const run = phxSim(args, { cwd: newFolder() });
    await run.says("stderr", /requests go to/);
    const { stdout } = await run.signal("SIGINT");
    expect(stdout).toMatch(/records at http:\/\/127\.0\.0\.1:\d+\n/);
    expect(stdout).toMatch(/\nPOSTHOG_HOST=http:\/\/127\.0\.0\.1:\d+\n/);
    expect(stdout).toContain("use your own project key");
    expect(stdout).not.toMatch(/ph[cx]_|POSTHOG_API_KEY/);
    const json = phxSim([...args, "--json"], { cwd: newFolder() });
    const [line = ""] = await json.says("stdout", /\{.*\}/);
    expect(line).not.toMatch(/ph[cx]_/);
    expect(JSON.parse(line)).toMatchObject({ upstream: far.url, mode: "record", redaction: "default" });
    const spying = phxSim([...args, "--mode", "spy", "--json"], { cwd: newFolder() });
    await spying.says("stdout", /"project_api_key":"phc_/);
  });

  /** Secrets by name and by shape, in every place of a request and of its answer. */
  const planted = {
    jwt: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    password: "correct-horse-7-battery",
    cookie: "s3ss10n-c00k1e-value-9",
    bearer: "0auth2-t0ken-of-somebody-17",
    parameter: "qu3ry-s3cret-value-4242",
  };
  const email = "jane.doe@customer.example";
  const sendSecrets = (key: string) => `
    const p = ${JSON.stringify({ ...planted, email })};
    const url = process.env.POSTHOG_HOST;
    const post = (path, body) => fetch(url + path, { method: "POST", body: JSON.stringify(body),
      headers: { authorization: "Bearer " + p.bearer, cookie: "sessionid=" + p.cookie, "x-auth-token": p.jwt } });
    const props = { password: p.password, note: "see " + p.jwt, email: p.email, $set: { email: p.email } };
    const key = ${JSON.stringify(key)};
    await post("/capture/?access_token=" + p.parameter, { api_key: key, event: "bought", distinct_id: "u1", properties: props });
    await post("/flags/?v=2", { api_key: key, distinct_id: "u1", person_properties: props });
    await post("/api/nothing/", { name: "x", ...props });`;

  test.each([
    { args: [], found: { planted: false, email: true } },
    { args: ["--redact", "pii"], found: { planted: false, email: false } },
    { args: ["--raw"], found: { planted: true, email: true } },
  ])("what is written and printed is redacted: $args", async ({ args, found }) => {
    const far = await cloud();
    const cwd = newFolder();
    const all = ["record", "--upstream", far.url, "--tape", "shop", "--data", "data", ...args];
    const { code, stdout, stderr } = await phxSim([...all, ...script(sendSecrets(far.apiKey))], { cwd }).ended;
    expect([code, stdout]).toEqual([0, ""]);
    const written = readdirSync(cwd, { recursive: true, withFileTypes: true })
      .filter((it) => it.isFile())
      .map((it) => readFileSync(join(it.parentPath, it.name), "latin1"))
      .join("\n");
    expect(written).toContain("bought");
    const { password, jwt } = planted;
    expect({ planted: [password, jwt].every((it) => written.includes(it)), email: written.includes(email) }).toEqual(
      found,
    );
    const seen = Object.values(planted).filter((it) => `${written}${stderr}`.includes(it));
    if (!found.planted) expect(seen).toEqual([]);
    expect(stderr.includes("--raw: nothing is redacted")).toBe(found.planted);
    expect(stderr).toMatch(/POST \/capture\/\?\S+ 200 {2}upstream {2}1 event kept: bought/);
  });

  test("links of the service lead a rerouted command back, with the scheme that it asked with", async () => {
    const far = await cloud();
    const cwd = newFolder();
    const code = `
      let url = "https://us.posthog.com/api/projects/1/persons/?limit=1";
      for (let page = 0; url && page < 3; page++) {
        const answer = await fetch(url, { headers: { authorization: "Bearer ${far.personalApiKey}" } });
        console.log(new URL(url).origin, answer.status);
        url = (await answer.json()).next;
      }`;
    for (const distinct_id of ["a", "b"]) {
      const body = JSON.stringify({ api_key: far.apiKey, event: "x", distinct_id, properties: { $set: { a: 1 } } });
      await fetch(`${far.url}/capture/`, { method: "POST", body });
    }
    const env = { PHX_SIM_CA_DIR: join(newFolder(), "ca") };
    const args = ["record", "--upstream", far.url, "--tape", "shop", "--reroute"];
    const { stdout } = await phxSim([...args, ...script(code)], { cwd, env }).ended;
    expect(stdout).toBe("https://us.posthog.com 200\n".repeat(3));
    const urls: string[] = [];
    for await (const { req } of readTape(join(cwd, "tapes/shop.tape.ndjson"))) urls.push(req.url);
    expect(urls).toHaveLength(3);
  });

  test("says so when nothing came", async () => {
    const far = await cloud();
    const run = phxSim(["record", "--upstream", far.url, ...script("")], { cwd: newFolder() });
    expect((await run.ended).stderr).toContain(
      "nothing reached it: does the app send to this address, with a project key",
    );
  });

  test("with a command: it gets the host only, and its code is the code", async () => {
    const far = await cloud();
    const cwd = newFolder();
    const run = phxSim(["record", "--upstream", far.url, ...script(`${sending(far.apiKey)} process.exit(7)`)], {
      cwd,
      env: { POSTHOG_API_KEY: "mine" },
    });
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 7, stdout: "200 mine\n" });
    expect(stderr).toContain("POSTHOG_HOST");
    expect(stderr).not.toContain("POSTHOG_API_KEY");
    expect(readdirSync(join(cwd, "tapes"))).toEqual([expect.stringMatching(/^recording-\d{8}-\d{6}\.tape\.ndjson$/)]);
  });

  test("no one listens there: code 4, though the command passed", async () => {
    const far = await cloud();
    await far.close();
    const cwd = newFolder();
    const run = phxSim(["record", "--upstream", far.url, ...script(sending("phc_a"))], { cwd });
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 4, stdout: "502 undefined\n" });
    expect(stderr).toContain("1 without a response");
    expect(stderr).toContain("nothing listens there: check that it is running, and the port (ECONNREFUSED)");
  });

  test.each([
    [[], 2, "record needs --upstream: us, eu, or an address"],
    [["--upstream", "uk"], 2, '"uk" is not an upstream; give us, eu, or an address'],
    [["--upstream", "us", "--offline"], 4, "the upstream us must not be reached: offline is on; allow it with"],
    [["--upstream", "us", "--mode", "emulate"], 2, "--mode must be record, once, new, replay or spy"],
    [["--upstream", "us", "--mode", "new"], 2, "--mode new needs --tape"],
    [["--mode", "new", "--tape", "x"], 2, "record needs --upstream"],
    [["--mode", "replay"], 2, "--mode replay needs --tape"],
    [["--mode", "replay", "--tape", "x", "--max-age", "7d"], 2, "--max-age needs --mode once or --mode new"],
    [
      ["--mode", "once", "--tape", "x", "--max-age", "week"],
      2,
      '--max-age must be an age such as 7d or 12h, not "week"',
    ],
    [["--mode", "once", "--tape", "x"], 2, "the mode record needs an upstream"],
    [["--upstream", "us", "--redact", "none"], 2, "--redact must be default or pii"],
    [["--upstream", "us", "--redact", "pii", "--raw"], 2, "--raw redacts nothing: give --redact or --raw, not both"],
    [["--upstream", "us", "--upstream-ca", "none.pem"], 2, "--upstream-ca cannot be read"],
    [["--upstream", "us", "--include", ""], 2, "--include must be text"],
  ])("%j → %i", async (args, code, said) => {
    const run = phxSim(["record", "--port", "0", ...args], { cwd: newFolder() });
    const ended = await run.ended;
    expect(ended.stderr).toContain(said);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
  });

  test("a tape that cannot be there", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "tapes"), "a file");
    const run = phxSim(["record", "--upstream", "http://127.0.0.1:9", "--tape", "x", "--port", "0"], { cwd });
    const { code, stderr } = await run.ended;
    expect(code).toBe(3);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  });

  test("under CI the real service is not reached, unless the options allow it", async () => {
    const env = { CI: "true" };
    const refused = await phxSim(["record", "--upstream", "us", "--port", "0"], { cwd: newFolder(), env }).ended;
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("CI is set; allow it with --offline=false");
    const allowed = phxSim(["record", "--upstream", "us", "--port", "0", "--offline=false"], { cwd: newFolder(), env });
    await allowed.says("stderr", /requests go to us/);
    expect((await allowed.signal("SIGTERM")).code).toBe(143);
  });
});
