import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import "../../src/testing/vitest-matchers.ts";
import { endAll, newFolder, phxSim, post, runHere } from "../support/phx-sim.ts";
import { openShop } from "./apps/shop-app/shop.js";

afterEach(endAll);

/** What the documentation shows of an output. A line of `…` stands for any lines. */
const shown = (name: string): string =>
  readFileSync(join(import.meta.dirname, "output", `${name}.txt`), "utf8");

/** Times and addresses are new in each run. */
const steady = (text: string): string =>
  text
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:7490")
    .replaceAll(/\d\d:\d\d:\d\d\.\d{3}/g, "09:00:00.000")
    .replaceAll(/\d+(?:\.\d+)? m?s(?= ago|$)/gm, "1 ms")
    .replaceAll(/(posthog-node|phx-sim) [\d.]+/g, "$1 1.0.0")
    .trimEnd();

const literally = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Lines in this order; `…` alone on a line stands for any. */
const asPattern = (text: string): RegExp =>
  new RegExp(`^${steady(text).split("\n…\n").map(literally).join("\n[\\s\\S]*?\n")}`);

test("the banner and the request log", async () => {
  const sim = phxSim(["start", "--port", "0", "--memory"], { isOwn: true, cwd: newFolder() });
  const [url] = await sim.says("stdout", /http:\/\/127\.0\.0\.1:\d+/);
  const batch = [{ event: "signed_up", distinct_id: "anna" }, { event: "checkout" }];
  await post(`${url}/batch/`, { api_key: "phc_sim_default", batch });
  await sim.says("stderr", /missing_distinct_id.*\n/);
  const { stdout, stderr } = await sim.signal("SIGTERM");
  expect(steady(stdout + stderr)).toMatch(asPattern(shown("start")));
});

test("a failure report", async () => {
  await using sim = await startSim();
  await using ph = await sim.project({ name: "a signup is tracked" });
  const shop = openShop(ph);
  shop.signUp("visitor-1", "anna", "free");
  await shop.close();
  const failed = await expect(ph)
    .toHaveCaptured("signup_completed", { plan: "pro" }, { timeoutMs: 50 })
    .catch((error: Error) => error.message);
  expect(
    steady(String(failed))
      .replace(", {timeoutMs: 50}", "")
      .replace(/within \d+ ms/, "within 4000 ms"),
  ).toBe(steady(shown("failure")));
});

test("why a user gets a flag's value", async () => {
  const flags = { reports: { person: { plan: "pro" }, rollout: 30 } };
  await using sim = await startSim({ scenario: { flags } });
  // The first answer loads the control API; the command waits five seconds for one.
  expect((await fetch(`${sim.url}/__sim/info`)).status).toBe(200);
  const args = ["flags", "explain", "reports", "--distinct-id", "user-1", "--person", "plan=free"];
  const { stdout } = await runHere([...args, "--url", sim.url], { isOwn: true, cwd: newFolder() });
  expect(stdout).toBe(shown("explain"));
});
