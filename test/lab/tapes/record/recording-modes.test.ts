import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../../src/index.ts";
import { newFolder } from "../../../support/folder.ts";

async function started(options: SimOptions): Promise<Sim> {
  const sim = await startSim(options);
  onTestFinished(() => sim.close());
  return sim;
}

/** A service, and a tape of what it said of a person's flags. */
async function recorded(): Promise<{ far: Sim; tape: string }> {
  const far = await started({ port: 0 });
  const tape = join(newFolder(), "shop.tape.ndjson");
  const sim = await startSim({ tape, upstream: far.url });
  await flags(sim, far.apiKey, "ann");
  await sim.close();
  return { far, tape };
}

const flags = async (sim: Sim, key: string, who: string): Promise<string | null> => {
  const body = JSON.stringify({ api_key: key, distinct_id: who });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${sim.url}/flags/?v=2`, { method: "POST", headers, body });
  await answer.text();
  return answer.headers.get("x-phx-source");
};

const project = async (sim: Sim, key: string): Promise<string | null> => {
  const answer = await fetch(`${sim.url}/api/projects/1/`, { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.headers.get("x-phx-source");
};

describe("modes in code", () => {
  test("new replays, records what is missing, and counts it", async () => {
    const { far, tape } = await recorded();
    const sim = await startSim({ tape, upstream: far.url, mode: "new" });
    expect(await flags(sim, far.apiKey, "ann")).toBe("tape:shop#1");
    expect(await project(sim, far.personalApiKey)).toBe("upstream");
    // Replay alone would answer with the flags of ann.
    expect(await flags(sim, far.apiKey, "bob")).toBe("upstream");
    expect(await sim.tapes.get()).toMatchObject({ mode: "new", on_miss: "upstream", added: 2 });
    await sim.close();
    const next = await started({ tape, mode: "replay" });
    expect(await project(next, "phx_any_key_of_mine")).toBe("tape:shop#2");
    expect(await flags(next, "phc_any_key_of_mine", "bob")).toBe("tape:shop#3");
    expect(await flags(next, "phc_any_key_of_mine", "ann")).toBe("tape:shop#1");
    expect(await next.tapes.get()).toMatchObject({ mode: "replay", on_miss: "fail", added: 0 });
  });

  test("a refusal of the upstream is not a fault's, where one slows it down", async () => {
    const { far, tape } = await recorded();
    const sim = await started({ tape, upstream: far.url, mode: "replay", onMiss: "upstream" });
    await sim.faults.apply({ name: "slow", effect: { latency: 1 } });
    expect(await project(sim, "phx_unknown")).toBe("fault");
    expect(await sim.requests.list()).toMatchObject([
      { status: 401, fault: "slow", source: "upstream", rejected: { reason: "tape" } },
    ]);
  });

  test("once and maxAge: an old tape is recorded again", async () => {
    const { far, tape } = await recorded();
    const options: SimOptions = { tape, upstream: far.url, mode: "once", maxAge: "7d" };
    const young = await startSim(options);
    expect(young.isReplaying()).toBe(true);
    await young.close();
    writeFileSync(tape, readFileSync(tape, "utf8").replace(/"created":"[^"]*"/, '"created":"2020-01-01T00:00:00Z"'));
    const old = await startSim(options);
    expect(old.recorded()).toMatchObject({ state: "recording", mode: "record", tape });
    await project(old, far.personalApiKey);
    await old.close();
    expect(readFileSync(tape, "utf8").trimEnd().split("\n")).toHaveLength(2);
  });

  test("offline, an old tape is replayed with a notice, and new becomes strict", async () => {
    const { tape } = await recorded();
    writeFileSync(tape, readFileSync(tape, "utf8").replace(/"created":"[^"]*"/, '"created":"2020-01-01T00:00:00Z"'));
    const notices: string[] = [];
    const sim = await started({
      ...{ tape, upstream: "us", mode: "new", maxAge: "7d", offline: true },
      onNotice: (text) => notices.push(text),
    });
    expect(await sim.tapes.get()).toMatchObject({ mode: "replay", on_miss: "fail" });
    expect(notices).toEqual([
      expect.stringMatching(/ old and is replayed anyway: .*offline is on$/),
      expect.stringMatching(/ has no response for is an error, not recorded: .*offline is on$/),
    ]);
  });

  test("a start that fails lets go of the tape", async () => {
    const { far, tape } = await recorded();
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const options: SimOptions = { tape, upstream: far.url, mode: "new" };
    await expect(startSim({ ...options, port })).rejects.toMatchObject({ code: "port_in_use" });
    expect(await project(await started(options), far.personalApiKey)).toBe("upstream");
  });

  test("the control API records below the data folder", async () => {
    const { far, tape } = await recorded();
    const name = `test-${process.pid}-${Date.now()}`;
    const data = await started({ data: newFolder() });
    const inside = join(String(data.data), `${name}.tape.ndjson`);
    writeFileSync(inside, readFileSync(tape, "utf8"));
    await data.recording.start({ upstream: far.url, tape: inside });
    await project(data, far.personalApiKey);
    expect(await data.recording.stop()).toMatchObject({ mode: "record", taped: 1, trouble: null });
    expect(readFileSync(inside, "utf8")).toMatch(/^\{"tape":1.*\n\{"i":1,.*\n\{"i":2,.*\/api\/projects\/1\/.*\n$/);
  });

  test.each<[options: SimOptions, code: string, says: string]>([
    [{ mode: "new", upstream: "us" }, "tape", "the mode new needs a tape"],
    [{ mode: "replay", tape: "x", maxAge: "7d" }, "option", "maxAge does not go with the mode replay"],
    [{ mode: "once", tape: "x", upstream: "us", maxAge: "soon" }, "option", 'maxAge cannot be "soon"'],
    [{ mode: "new", tape: "nowhere" }, "upstream", "the mode record needs an upstream"],
  ])("%j → %s", async (options, code, says) => {
    await expect(startSim(options)).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
  });
});
