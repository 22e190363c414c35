import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sim } from "../../src/index.ts";
import "../../src/testing/vitest-matchers.ts";
import { startBoard } from "../service/query/board.ts";

let ph: Sim;
beforeAll(async () => {
  ph = await startBoard();
});
afterAll(() => ph.close());

test("insights by name and as a query", async () => {
  await expect(ph).toHaveInsight("Basket to order", { steps: [3, 2, 1] });
  await expect(ph).toHaveInsight("Orders by plan", { total: { pro: 1, free: { "@gte": 1 } } });
  await expect(ph).toHaveInsight({ kind: "HogQLQuery", query: "SELECT count() FROM events" }, { value: 8 });
});

test("a join and a window in HogQL", async () => {
  const query = `
    SELECT basket.distinct_id, o.properties.plan, count() OVER (PARTITION BY o.properties.plan) AS same_plan
    FROM events basket LEFT JOIN events o ON basket.distinct_id = o.distinct_id AND o.event = 'order'
    WHERE basket.event = 'basket' ORDER BY 1`;
  const rows = [
    ["u1", "pro", 1],
    ["u2", null, 2],
    ["u3", null, 2],
  ];
  await expect(ph).toHaveInsight({ kind: "HogQLQuery", query }, { rows });
});

test("the failure of a funnel names who left at which step", async () => {
  const failure = expect(ph).toHaveInsight("Basket to order", { steps: [3, 2, 2] }, { timeoutMs: 0 });
  const message = await failure.then(String, (error: Error) => error.message);
  const shown = readFileSync(join(import.meta.dirname, "output", "insight.txt"), "utf8");
  expect(message.replace(", {timeoutMs: 0}", "")).toBe(shown.trimEnd());
});
