import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { newFolder } from "../../support/folder.ts";
import { runHere } from "../../support/phx-sim.ts";
import { element, opening, sendPart, session, start } from "./recorded.ts";

const mail = "jane@acme.test";
const folder = newFolder();
let sim: Sim;
let empty: Sim;
beforeAll(async () => {
  sim = await startSim({ clock: new Date(start + 60_000).toISOString() });
  empty = await startSim();
  await sendPart(sim, opening(element("body", {}, element("p", { id: "who" }, mail))));
  // loads what the commands call: they wait a short time for a sim
  await sim.recordings.list();
  await empty.recordings.list();
  writeFileSync(join(folder, "planted.txt"), `nobody@acme.test\n${mail}\n`);
});
afterAll(() => Promise.all([sim.close(), empty.close()]));

const phx = (...args: string[]) => runHere(["recordings", ...args, "--url", sim.url], { cwd: folder });

describe("phx-sim recordings", () => {
  test("lists recordings, and shows what one holds", async () => {
    const list = await phx("list");
    expect(list).toMatchObject({ code: 0, stderr: "" });
    expect(list.stdout).toMatch(new RegExp(`^${session}  2026-03-01T12:00:00.000Z  1 part, 1 kB  customer-1001\n$`));
    const shown = await phx("show", session);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/records +other 1, full 1\n +texts +page 1, text 4, attribute 1\n/);
  });

  test("search names the place and the number of the value, with exit code 1", async () => {
    const { code, stdout, stderr } = await phx("search", "--file", "planted.txt");
    expect(stdout).toBe(`value 2  text p#who  2026-03-01T12:00:00.001Z ${session}\n`);
    expect(stderr).toBe("phx-sim: 1 place in 1 recording, 1 part\n");
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain(mail);
  });

  test("search without a find has exit code 0", async () => {
    expect(await phx("search", "nobody@acme.test")).toMatchObject({ code: 0, stdout: "" });
  });

  test("search of a recording with a screenshot is undecided, with exit code 1, unless that is allowed", async () => {
    await using mobile = await startSim();
    await sendPart(mobile, [
      { type: 2, timestamp: start, data: { wireframes: [{ type: "screenshot", base64: "AAAA" }] } },
    ]);
    await mobile.recordings.list();
    const searched = (...more: string[]) =>
      runHere(["recordings", "search", mail, "--url", mobile.url, ...more], { cwd: folder });
    const { code, stdout, stderr } = await searched();
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(
      "undecided, because not everything was read:\n  screenshot: a screenshot of a mobile app cannot be read as text\n",
    );
    const asJson = await searched("--json");
    expect(JSON.parse(asJson.stdout)).toMatchObject({ verdict: "undecided", complete: false });
    expect(asJson.code).toBe(1);
    expect(await searched("--allow-unread", "screenshot")).toMatchObject({ code: 0 });
    expect(await searched("--allow-unread", "screen")).toMatchObject({ code: 2 });
  });

  test.each<[string, () => ReturnType<typeof runHere>, number, RegExp]>([
    ["no value", () => phx("search"), 2, /give values, or --file FILE/],
    ["a file that does not exist", () => phx("search", "--file", "no.txt"), 2, /no\.txt cannot be read/],
    ["a short value", () => phx("search", "ab"), 2, /3 to 1,000 characters/],
    ["an unknown session", () => phx("show", "none"), 2, /there is no session "none"/],
    [
      "no recording",
      () => runHere(["recordings", "search", mail, "--url", empty.url], { cwd: folder }),
      1,
      /there is no recording/,
    ],
  ])("fails for %s", async (_, run, code, says) => {
    const answer = await run();
    expect(answer.stderr).toMatch(says);
    expect(answer.code).toBe(code);
  });
});
