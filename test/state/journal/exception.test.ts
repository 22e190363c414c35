import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { exceptionGroup, readException } from "../../../src/state/journal/exception.ts";

const frame = (filename: string, name = "run", more: JsonObject = {}): JsonObject => ({
  filename,
  function: name,
  lineno: 3,
  colno: 7,
  in_app: true,
  ...more,
});

const error = (value: string, frames: JsonObject[] = [frame("src/a.ts")], more: JsonObject = {}) => ({
  type: "TypeError",
  value,
  mechanism: { type: "generic", handled: false },
  stacktrace: { type: "raw", frames },
  ...more,
});

const list = (...causes: JsonObject[]): JsonObject => ({ $exception_list: causes });

const names = (properties: JsonObject) =>
  readException(properties).causes.map(({ frames }) => frames.map(({ name }) => name));

describe("an exception is read", () => {
  test("in the form of today's SDKs: the newest call first, with its place in what was sent", () => {
    const properties = list(error("x", [frame("a.ts", "main"), frame("a.ts", "deep")]));
    expect(readException({ ...properties, $exception_level: "error" })).toMatchObject({
      level: "error",
      missing: [],
      causes: [
        {
          type: "TypeError",
          message: "x",
          handled: false,
          mechanism: "generic",
          frames: [
            { place: 1, name: "deep", file: "a.ts", line: 3, column: 7 },
            { place: 0, name: "main" },
          ],
        },
      ],
    });
  });

  test("in the older forms: frames as JSON text, stacks of Chromium, Firefox and Python", () => {
    const older = (stack: string): JsonObject => ({
      $exception_type: "Error",
      $exception_message: "old",
      $exception_stack_trace_raw: stack,
    });
    expect(names(older(JSON.stringify([frame("a.js", "f"), frame("a.js", "g")])))).toEqual([["g", "f"]]);
    expect(names(older("Error: old\n    at g (http://x/a.js:1:2)\n    at f (http://x/a.js:3:4)"))).toEqual([
      ["g", "f"],
    ]);
    expect(names(older("g@http://x/a.js:1:2\nf@http://x/a.js:3:4"))).toEqual([["g", "f"]]);
    const python = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n  File "a.py", line 9, in g';
    expect(names(older(python))).toEqual([["g", "f"]]);
    expect(readException(older("???")).causes[0]?.missing).toEqual(["the stack cannot be read"]);
  });

  test.each([
    ["src/app.ts", true, "app", ""],
    ["http://localhost:5173/node_modules/.vite/deps/react-dom.js?v=1", true, "library", "react-dom.js"],
    ["/app/node_modules/.pnpm/@scope+lib@1.0.0/node_modules/@scope/lib/dist/x.js", true, "library", "@scope/lib"],
    ["node:internal/process/task_queues", false, "runtime", "node:internal"],
    ["/usr/lib/python3.12/json/decoder.py", false, "runtime", "python3.12"],
    ["/venv/lib/python3.12/site-packages/django/core/x.py", false, "library", "django"],
    ["vendor/other.rb", false, "library", ""],
  ])("with the owner of each frame: %s", (file, in_app, owner, from) => {
    const [cause] = readException(list(error("x", [frame(file, "f", { in_app })]))).causes;
    expect(cause?.frames[0]).toMatchObject({ owner, from });
  });

  test("with the lines of source that were sent", () => {
    const context = { context_line: "b()", pre_context: ["a()"], post_context: ["c()", 7] };
    const [cause] = readException(list(error("x", [frame("a.py", "f", context)]))).causes;
    expect(cause?.frames[0]?.context).toEqual([
      { n: 2, text: "a()", isHit: false },
      { n: 3, text: "b()", isHit: true },
      { n: 4, text: "c()", isHit: false },
      { n: 5, text: "", isHit: false },
    ]);
  });

  test("as far as possible when it is damaged, with what is missing", () => {
    const read = (value: unknown) => readException({ $exception_list: value } as JsonObject);
    expect(read("{")).toMatchObject({ causes: [], missing: ["$exception_list has no exceptions"] });
    expect(read([null, error("x"), 7])).toMatchObject({
      causes: [{ message: "x" }],
      missing: ["2 of the causes cannot be read"],
    });
    expect(read(JSON.stringify([error("text")])).causes[0]?.message).toBe("text");
    expect(read([{ type: 1, value: {}, stacktrace: { frames: "x" } }]).causes[0]).toMatchObject({
      type: "",
      message: "",
      missing: ["the frames are not a list"],
    });
    const circular = error("x", [], { mechanism: { exception_id: 1, parent_id: 1 } });
    expect(read([circular]).causes[0]?.missing).toEqual(["it names itself as its cause: the chain was circular"]);
    const frames = Array.from({ length: 10_000 }, (_, i) => (i === 9_999 ? null : frame(`f${i}.ts`)));
    const [long] = read(Array.from({ length: 10_000 }, () => error("x", frames as JsonObject[]))).causes;
    expect(long?.frames.length).toBe(199);
    expect(long?.missing).toEqual(["9800 further frames are not shown", "1 of the frames cannot be read"]);
  });
});

describe("exceptions are one group", () => {
  const id = (message: string, frames?: JsonObject[]) => exceptionGroup(list(error(message, frames)));

  test("if numbers and ids in the message, lines, and the hash of a build differ", () => {
    expect(id("no basket b-311 of 0192c7f0-1111-7222-8333-444455556666")).toBe(
      id("no basket b-9 of 0192c7f0-aaaa-7bbb-8ccc-ddddeeeeffff"),
    );
    expect(id("x", [frame("a.ts")])).toBe(id("x", [frame("a.ts", "run", { lineno: 99 })]));
    expect(id("x", [frame("https://shop.test/assets/app-3f9a2c81.js")])).toBe(
      id("x", [frame("https://shop.test/assets/app-77e01b2c.js")]),
    );
  });

  test("whatever library frames are between those of the app", () => {
    const library = frame("/app/node_modules/express/x.js", "next", { in_app: false });
    expect(id("x", [frame("a.ts"), library, frame("b.ts")])).toBe(id("x", [frame("a.ts"), frame("b.ts")]));
  });

  test("not if type, words or frames of the app differ", () => {
    const ids = [id("no basket"), id("no order"), id("no basket", [frame("src/b.ts")])];
    expect(new Set([...ids, exceptionGroup(list({ ...error("no basket"), type: "Error" }))]).size).toBe(4);
  });

  test("by the fingerprint that was sent, before all else", () => {
    const sent = (message: string) => exceptionGroup({ ...list(error(message)), $exception_fingerprint: "f1" });
    expect(sent("one")).toBe(sent("another thing"));
    expect(sent("one")).not.toBe(id("one"));
  });
});
