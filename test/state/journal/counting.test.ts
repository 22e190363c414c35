import { expect, test } from "vitest";
import { type Counter, countsOf, freshCount, type RowCount } from "../../../src/state/journal/counting.ts";

test("a count goes on after rows that could not be read once", async () => {
  let isBroken = true;
  const counter: Counter<RowCount> = {
    first: () => 1,
    last: () => 3,
    *range(_, from, to) {
      if (isBroken) throw new Error("EIO: i/o error, read");
      for (let n = from; n <= to; n++) yield n;
    },
  };
  const counts = countsOf<RowCount>({ onVeiled: () => () => {} }, 4);
  const read = () => counts.get("all", () => ({ count: freshCount(0), counter }));
  await expect(read()).rejects.toThrow("EIO");
  await expect(read()).rejects.toThrow("EIO");
  isBroken = false;
  expect((await read()).progress).toEqual({ complete: true, counting: false });
});
