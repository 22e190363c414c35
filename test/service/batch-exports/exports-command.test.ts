import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { ExportRun } from "../../../src/index.ts";
import { uuidFor } from "../../support/documents.ts";
import { newFolder, type Process, post, type Ready, runHere, startReady } from "../../support/phx-sim.ts";

const cwd = newFolder();

/** A sim, with the command line beside it. */
interface Side {
  sim: Process;
  ready: Ready;
  run(...args: string[]): Process["ended"];
}

async function startSide(data: string, clock: string): Promise<Side> {
  const { sim, ready } = await startReady(["--data", data, "--clock", clock], { cwd });
  const env = { PHX_SIM_URL: ready.url };
  return { sim, ready, run: (...args) => runHere(["exports", ...args], { cwd, env }) };
}

const control = async <T>({ ready }: Side, method: string, path: string, body?: object): Promise<T> => {
  const response = await fetch(`${ready.url}/__sim/${path}`, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
};

const runsOf = async (side: Side): Promise<ExportRun[]> =>
  (await control<{ runs: ExportRun[] }>(side, "GET", "exports/runs")).runs;

/** Makes a management call below the project. */
async function manage({ ready }: Side, path: string, body: object): Promise<string> {
  const response = await fetch(`${ready.url}/api/projects/${ready.project_id}/batch_exports/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${ready.personal_api_key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.ok).toBe(true);
  return String(((await response.json()) as { id?: string }).id);
}

const createHourly = (side: Side) =>
  manage(side, "", {
    name: "Hourly",
    interval: "hour",
    destination: { type: "S3", config: { bucket_name: "b", region: "r", prefix: "" } },
  });

const capture = async ({ ready }: Side, from: number, count: number): Promise<void> => {
  const batch = Array.from({ length: count }, (_, i) => ({
    event: "seen",
    distinct_id: "u",
    uuid: uuidFor(from + i, "e"),
  }));
  const response = await post(`${ready.url}/batch/`, { api_key: ready.project_api_key, batch });
  expect(response.status).toBe(200);
};

describe("phx-sim exports", () => {
  let side: Side;
  let hourly: string;
  beforeAll(async () => {
    side = await startSide(join(cwd, "data"), "2026-03-04T09:30:00Z");
    await control(side, "PUT", "clock", { frozen: true });
    hourly = await createHourly(side);
    await capture(side, 1, 2);
    await control(side, "POST", "clock/advance", { by: "1h" });
  });

  test("list", async () => {
    const { code, stdout, stderr } = await side.run("list");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(
      `Hourly  events to S3, hour, project 1  next run 2026-03-04T11:00:00Z  ${hourly}\n` +
        "  2026-03-04T10:00:00Z  Completed, 2 records  ",
    );
    expect((await side.run("list", "--project", "99")).stdout).toBe("no batch exports\n");
    expect(JSON.parse((await side.run("list", "--json")).stdout)).toMatchObject({
      exports: [{ id: hourly, next_run: "2026-03-04T11:00:00Z" }],
    });
  });

  test("runs", async () => {
    const { stdout } = await side.run("runs", "--export", "Hourly", "--status", "Completed");
    expect(stdout).toMatch(
      /^Hourly {2}2026-03-04T09:00:00Z - 2026-03-04T10:00:00Z {2}Completed, 2 records, 1 file {2}\S+\n$/,
    );
    expect((await side.run("runs", "--status", "Cancelled")).stdout).toBe("no runs\n");
    expect(JSON.parse((await side.run("runs", "--limit", "1", "--json")).stdout).runs).toHaveLength(1);
    const [first, ...older] = await runsOf(side);
    const { stdout: page } = await side.run("runs", "--before", String(first?.id), "--json");
    expect(JSON.parse(page).runs).toEqual(older);
  });

  test("show", async () => {
    const [first] = await runsOf(side);
    const { stdout } = await side.run("show", first?.id ?? "");
    expect(stdout).toContain(`  file  ${first?.files[0]?.name}  ${first?.bytes_exported} bytes\n`);
    expect(stdout).toMatch(/ {2}2026-03-04T10:00:00Z {2}INFO {2}Batch export for range .* finished/);
  });

  test("script and tick", async () => {
    const [first] = await runsOf(side);
    await manage(side, `${hourly}/runs/${first?.id}/retry/`, {});
    const [waiting] = await runsOf(side);
    const id = waiting?.id ?? "";
    const said = await side.run("script", id, "--after", "30s", "--error", "Access denied");
    expect(said.stdout).toBe(`Hourly  run ${id} will be ended when it has started\n`);
    expect(said.stderr).toMatch(/^phx-sim: the clock is frozen: POST \/__sim\/exports\/tick/);
    expect((await side.run("tick")).stdout).toMatch(new RegExp(`^\\S+  run_started  export ${hourly}  run ${id}\n$`));
    expect((await side.run("tick")).stdout).toBe("nothing was due\n");
    await control(side, "POST", "clock/advance", { by: "30s" });
    const { stdout } = await side.run("runs", "--status", "Failed");
    expect(stdout).toContain("Failed: Access denied");
    const again = await side.run("script", id, "--status", "Cancelled");
    expect(again).toMatchObject({ code: 2, stdout: "" });
    expect(again.stderr).toMatch(/has ended: it is Failed/);
  });

  const mistakes: [args: string[], reported: RegExp][] = [
    [["script", "none"], /there is no run none/],
    [["script", "none", "--status", "Fialed"], /--status must be .* not "Fialed".*did you mean/],
    [["script", "none", "--after", "soon"], /--after: expected ms, or a string such as/],
    [["script"], /exports script needs RUN/],
    [["show", "../info"], /there is no run \.\.\/info/],
    [["runs", "--status", "bad"], /--status must be Starting, Running, /],
    [["lsit"], /unknown command "exports lsit"; did you mean list\?/],
  ];
  test.each(mistakes)("%j ends with 2", async (args, reported) => {
    const { code, stdout, stderr } = await side.run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(reported);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("what a tick did is still there when the sim is killed with its answer", async () => {
    const [first] = (await runsOf(side)).filter((it) => it.status === "Completed");
    await manage(side, `${hourly}/runs/${first?.id}/retry/`, {});
    await control(side, "POST", "exports/tick", {});
    await side.sim.signal("SIGKILL");
    const next = await startSide(join(cwd, "data"), "2026-03-04T10:30:00Z");
    expect((await runsOf(next)).map((it) => it.status)).toEqual(["Completed", "Failed", "Completed"]);
    await next.sim.signal("SIGTERM");
  });
});

/** Waits until a run writes into a file of the folder. */
async function untilWriting(side: Side, folder: string): Promise<ExportRun> {
  for (;;) {
    const [run] = await runsOf(side);
    if (run && run.status !== "Running") throw new Error(`the run is ${run.status} already`);
    if (run && existsSync(join(folder, `${run.id}.part`))) return run;
  }
}

const count = 60_000;
const batch = 2_000;

test("killed in the middle of a run, the next start goes on", async () => {
  const data = join(cwd, "killed");
  const first = await startSide(data, "2026-03-04T09:30:00Z");
  const id = await createHourly(first);
  for (let from = 0; from < count; from += batch) await capture(first, from, batch);
  const advancing = control(first, "POST", "clock/advance", { by: "1h" }).catch(() => {});
  const folder = join(data, "exports", id);
  const { id: runId, files } = await untilWriting(first, folder);
  expect(files).toEqual([]);
  // An event that is answered has all that was before it on disk.
  await capture(first, count, 1);
  await first.sim.signal("SIGKILL");
  await advancing;
  expect(readdirSync(folder)).toEqual([`${runId}.part`]);

  const second = await startSide(data, "2026-03-04T10:35:00Z");
  for (const it of await runsOf(second)) {
    expect(it.id).toBe(runId);
    if (it.status !== "Completed") expect(it.files).toEqual([]);
  }
  await control(second, "POST", "exports/tick", {});
  const runs = await runsOf(second);
  expect(runs).toMatchObject([{ id: runId, status: "Completed", records_completed: count }]);
  const response = await fetch(second.ready.url + runs[0]?.files[0]?.url);
  const lines = (await response.text()).trimEnd().split("\n");
  expect(lines).toHaveLength(count);
  expect(new Set(lines.map((line) => JSON.parse(line).uuid)).size).toBe(count);
  expect(readdirSync(folder)).toEqual([runId]);
  const { logs } = await control<{ logs: { message: string }[] }>(second, "GET", `exports/runs/${runId}`);
  expect(logs.map((it) => it.message)).toContainEqual(expect.stringContaining("was interrupted"));
  await second.sim.signal("SIGTERM");
});
