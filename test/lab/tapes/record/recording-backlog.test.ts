import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import type { Work } from "../../../../src/kernel/base/work.ts";
import { Backlog } from "../../../../src/lab/tapes/record/recording.ts";

/** An answer that its client has not read yet. */
const unread = () => new ServerResponse(new IncomingMessage(new Socket()));
const large = 1024 * 1024;
/** Work of one step. */
const step = <T>(work: () => T) =>
  function* (): Work<T> {
    yield undefined;
    return work();
  };

test("what is small is done at once", () => {
  const done: string[] = [];
  void new Backlog(() => 1).take(
    100,
    unread(),
    step(() => done.push("small")),
  );
  expect(done).toEqual(["small"]);
});

test("what is large waits, and what comes after it, too; the end does it all, in order", async () => {
  const backlog = new Backlog(() => 1);
  const done: string[] = [];
  const all = [
    backlog.take(
      large,
      unread(),
      step(() => done.push("large")),
    ),
    backlog.take(
      100,
      unread(),
      step(() => done.push("small")),
    ),
  ];
  expect(done).toEqual([]);
  await backlog.finish();
  expect(done).toEqual(["large", "small"]);
  await Promise.all(all);
});

test("other work has its turns while what is large is done", async () => {
  const backlog = new Backlog(() => 1);
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  const work = backlog.take(large, unread(), function* () {
    for (let i = 0; i < 1_000; i++) yield undefined;
    isDone = true;
    return turns;
  });
  setImmediate(count);
  await backlog.finish();
  expect(await work).toBeGreaterThanOrEqual(5);
});

test("a lull is enough, once the client has its answer; what fails does not stop the rest", async () => {
  const backlog = new Backlog(() => 1);
  const res = unread();
  const failing = backlog.take(
    large,
    res,
    step(() => {
      throw new Error("no");
    }),
  );
  const next = backlog.take(
    100,
    res,
    step(() => "done"),
  );
  await Promise.resolve();
  res.emit("close");
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("done");
});
