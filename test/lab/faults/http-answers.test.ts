import { afterEach, describe, expect, test } from "vitest";
import { ControlError } from "../../../src/index.ts";
import { control as controlOf } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();
afterEach(() => sim.reset());

const control = (method: string, path: string, body?: unknown) =>
  controlOf<Record<string, unknown>>(sim, method, path, body);

const empty = { status: 503, headers: {}, match: {}, keep: false, left: 1 };

describe("over HTTP", () => {
  test("answers are queued, listed with their use, and cleared", async () => {
    const { status, answer } = await control("POST", "answers", {
      partition: "a",
      answers: [
        { status: 503 },
        { status: 200, headers: { "Retry-After": "1" }, body: { a: [null] }, match: { route: "flags" } },
      ],
    });
    expect(status).toBe(200);
    const second = {
      ...empty,
      status: 200,
      headers: { "Retry-After": "1" },
      body: { a: [null] },
      match: { route: "flags" },
    };
    expect(answer).toEqual({ project: null, partition: "a", waiting: [empty, second], used: 0 });
    await control("POST", "answers", { answers: [{ status: 503, times: 3, keep: true }] });
    await fetch(`${sim.url}/flags`, { method: "POST", headers: { "x-test-id": "a" } });
    expect((await control("GET", "answers")).answer).toEqual({
      queues: [
        { project: null, partition: "a", waiting: [second], used: 1 },
        { project: sim.projectId, partition: null, waiting: [{ ...empty, left: 3, keep: true }], used: 0 },
      ],
    });
    const removed = (path: string) => control("DELETE", path).then((it) => it.answer.removed);
    expect(await removed("answers?partition=b")).toBe(0);
    expect(await removed("answers?partition=a")).toBe(1);
    expect(await removed(`answers?project=${sim.projectId}`)).toBe(1);
    expect((await control("GET", "answers")).answer).toEqual({ queues: [] });
  });

  test("further answers are appended", async () => {
    await control("POST", "answers", { partition: "a", answers: [{ status: 503 }] });
    const { answer } = await control("POST", "answers", { partition: "a", answers: [{ status: 504 }] });
    expect(answer.waiting).toEqual([empty, { ...empty, status: 504 }]);
  });

  test("results are listed as they were queued", async () => {
    const results = ["ok", { result: "drop", details: "busy" }];
    await control("POST", "answers", { answers: [{ status: 200, results }] });
    const { answer } = await control("GET", "answers");
    expect(answer).toMatchObject({ queues: [{ waiting: [{ ...empty, status: 200, results }] }] });
  });

  test("an empty queue stays, with how often it was used", async () => {
    await control("POST", "answers", { partition: "a", answers: [{ status: 503 }] });
    await fetch(`${sim.url}/flags`, { method: "POST", headers: { "x-test-id": "a" } });
    expect(await sim.answers.list()).toEqual([{ project: null, partition: "a", waiting: [], used: 1 }]);
  });
});

describe("what is wrong is said, and nothing is queued", () => {
  const one = { status: 200 };
  const rows: [body: unknown, status: number, pointer: string, detail: string][] = [
    [{}, 400, "/answers", "is missing; expected a list"],
    [{ answers: [] }, 400, "/answers", "expected at least one entry, got an empty list"],
    [{ answers: one }, 400, "/answers", "expected a list, got an object"],
    [{ answers: [{}] }, 400, "/answers/0/status", "is missing; expected a number"],
    [{ answers: [one, { status: 101 }] }, 400, "/answers/1/status", "expected a number of at least 200, got 101"],
    [{ answers: [{ status: "200" }] }, 400, "/answers/0/status", 'expected a number, got "200"'],
    [{ answers: [{ ...one, time: 2 }] }, 400, "/answers/0/time", 'unknown key "time"'],
    [{ answers: [{ ...one, times: 0 }] }, 400, "/answers/0/times", "expected a number of at least 1, got 0"],
    [{ answers: [{ ...one, keep: 1 }] }, 400, "/answers/0/keep", "expected true or false, got 1"],
    [{ answers: [{ ...one, headers: { "a b": "" } }] }, 400, "/answers/0/headers/a b", "the name of a header"],
    [{ answers: [{ ...one, headers: { a: "\r\nb: 1" } }] }, 400, "/answers/0/headers/a", "printable ASCII"],
    [{ answers: [{ ...one, match: { route: "flgs" } }] }, 400, "/answers/0/match/route", "expected capture, "],
    [{ answers: [{ ...one, match: { path: "/" } }] }, 400, "/answers/0/match/path", 'unknown key "path"'],
    [{ answers: [{ ...one, match: { method: "get" } }] }, 400, "/answers/0/match/method", "in capitals"],
    [{ answers: [{ ...one, match: { route: "/__sim/info" } }] }, 400, "/answers/0/match/route", "control API"],
    [{ answers: [{ ...one, results: [] }] }, 400, "/answers/0/results", "at least one entry"],
    [{ answers: [{ ...one, results: [""] }] }, 400, "/answers/0/results/0", "got an empty string"],
    [{ answers: [{ ...one, results: [{ details: "x" }] }] }, 400, "/answers/0/results/0", "a result such as ok"],
    [{ answers: [{ ...one, results: ["ok"], body: {} }] }, 400, "/answers/0/results", "only one of body, results"],
    [{ answers: [one], partition: "" }, 400, "/partition", "expected 1 to 200 visible characters"],
    [{ answers: [one], partition: "a b" }, 400, "/partition", "expected 1 to 200 visible characters"],
    [{ answers: [one], partition: "a", project: 1 }, 400, "/partition", "only one of project, partition"],
    [{ answers: [one], partitions: "a" }, 400, "/partitions", 'unknown key "partitions"'],
    [{ answers: [one], project: 999 }, 404, "/project", "there is no project 999"],
    [[one], 400, "", "the body must be a JSON object"],
  ];
  test.each(rows)("%j", async (body, status, pointer, detail) => {
    const came = await control("POST", "answers", body);
    expect(came).toMatchObject({ status, answer: { detail: expect.stringContaining(detail) } });
    expect(came.answer.pointer).toBe(pointer);
    expect(await sim.answers.list()).toEqual([]);
  });

  const queries: [query: string, pointer: string][] = [
    ["project=x", "?project"],
    ["project=1&partition=a", "?partition"],
  ];
  test.each(queries)("DELETE ?%s", async (query, pointer) => {
    await sim.answers.queue({ status: 500 });
    expect(await control("DELETE", `answers?${query}`)).toMatchObject({ status: 400, answer: { pointer } });
    expect(await sim.answers.clear()).toBe(1);
  });
});

describe("in TypeScript", () => {
  test("one answer or several, a queue or all", async () => {
    expect(await sim.answers.queue({ status: 503 })).toEqual({
      project: sim.projectId,
      partition: null,
      waiting: [empty],
      used: 0,
    });
    await sim.answers.queue([{ status: 503 }, { status: 503 }], { partition: "a&b=c" });
    expect(await sim.answers.clear({ partition: "a&b=c" })).toBe(2);
    expect(await sim.answers.clear({ project: sim.projectId })).toBe(1);
    expect(await sim.answers.clear()).toBe(0);
  });

  test("a mistake is a ControlError", async () => {
    await expect(sim.answers.queue([])).rejects.toBeInstanceOf(ControlError);
  });
});

test("a reset forgets the queues; one of other parts does not", async () => {
  await sim.answers.queue({ status: 503 });
  await sim.reset({ what: ["events", "faults"] });
  expect(await sim.answers.list()).toHaveLength(1);
  await sim.reset({ what: ["answers"] });
  expect(await sim.answers.list()).toEqual([]);
});

test("partition and mark survive an export of the state", async () => {
  await sim.answers.queue({ status: 503 }, { partition: "kept" });
  await fetch(`${sim.url}/flags`, { method: "POST", headers: { "x-test-id": "kept" } });
  await sim.state.import(await sim.state.export());
  expect(await sim.requests.list({ partition: "kept" })).toMatchObject([{ status: 503, scripted: true }]);
});
