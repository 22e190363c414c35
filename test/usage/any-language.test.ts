import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { blocksOf } from "../support/docs.ts";

const run = promisify(execFile);

test("the shell example with curl", async () => {
  await using sim = await startSim();
  const [example] = blocksOf("docs/testing/http.md", "sh", "curl");
  expect(example).toBeDefined();
  const { stdout } = await run("bash", ["-euc", example ?? ""], {
    env: { ...process.env, PHX_SIM_URL: sim.url },
  });
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers[0]).toEqual({ status: "Ok" });
  expect(answers[1].events).toMatchObject([{ event: "signed_up", properties: { plan: "pro" } }]);
  expect(answers[2].events).toMatchObject([{ event: "checkout", reason: "missing_distinct_id" }]);
});
