import { expect, test } from "vitest";
import { createLanes } from "../../../../src/lab/tapes/send/run.ts";

test("what a job throws ends the run: later jobs are not begun, and the end reports", async () => {
  const lanes = createLanes(2);
  const done: number[] = [];
  await lanes.add([0], async () => void done.push(1));
  await lanes.add([0], async () => {
    throw new RangeError("too deep");
  });
  await lanes.add([0], async () => void done.push(2));
  await expect(lanes.done()).rejects.toThrow("too deep");
  expect(done).toEqual([1]);
});

test("reading is held back while jobs wait", async () => {
  const lanes = createLanes(1);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let added = 0;
  const adding = (async () => {
    for (; added < 10; added++) await lanes.add([0], () => gate);
  })();
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  expect(added).toBe(3);
  open();
  await adding;
  await lanes.done();
});
