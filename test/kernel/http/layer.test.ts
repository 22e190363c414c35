import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { SimError } from "../../../src/kernel/base/errors.ts";
import { createApp } from "../../../src/kernel/http/app.ts";
import { type CallRecord, callFrom } from "../../../src/kernel/http/call.ts";
import type { Endpoint } from "../../../src/kernel/http/endpoint.ts";
import { deciding, delivering, type Layer, pause } from "../../../src/kernel/http/layer.ts";
import { text } from "../../../src/kernel/http/reply.ts";
import { Router } from "../../../src/kernel/http/router.ts";

const row = (path: string, family: Endpoint["family"]): Endpoint => ({
  ...{ methods: ["GET"], path, family, summary: "" },
  handle: () => text("row"),
});

/** Sends a GET through layers; `steps` has what was done, in order. */
async function answered(layers: (steps: string[]) => readonly Layer[], target = "/here") {
  const steps: string[] = [];
  const crashes: unknown[] = [];
  let kept: CallRecord | undefined;
  const app = createApp({
    router: new Router([row("/here", "service"), row("/__sim/here", "control")]),
    layers: layers(steps),
    journal: async (call) => {
      kept = call.record;
    },
    identify: () => void steps.push("identify"),
    unknownPath: () => new SimError("not_found", "no such path"),
    onCrash: (error) => void crashes.push(error),
    onRefusal: () => {},
  });
  const call = callFrom({
    ...{ method: "GET", target, headers: {}, rawHeaders: [], body: Buffer.alloc(0), peer: "", at: 0, started: 0 },
    signal: () => new AbortController().signal,
  });
  return { reply: await app.handle(call), steps, crashes, kept };
}

const marking =
  (steps: string[], name: string): Layer =>
  async (_, next) => {
    steps.push(name);
    const reply = await next();
    return { ...reply, body: `${name}(${reply.body})` };
  };

const answering = (body: string) =>
  deciding({
    active: true,
    take: () => ({ delay: 0, answer: text(body, 503), rejection: { reason: body, detail: "" } }),
  });

const delivery = (steps: string[]) =>
  delivering({
    closing: new AbortController().signal,
    onWait: () => void steps.push("wait"),
    identify: () => void steps.push("identify"),
  });

describe("layers", () => {
  test("the first of the list is the outermost", async () => {
    const { reply, steps } = await answered((it) => [marking(it, "a"), marking(it, "b")]);
    expect([reply.body, steps]).toEqual(["a(b(row))", ["a", "b"]]);
  });

  test("never with the control API", async () => {
    const { reply } = await answered((it) => [marking(it, "a")], "/__sim/here");
    expect(reply.body).toBe("row");
  });

  test("an error of the core passes through them as a reply", async () => {
    const { reply, kept } = await answered((it) => [marking(it, "a")], "/nowhere");
    expect([reply.status, kept?.rejected?.reason]).toEqual([404, "not_found"]);
    expect(reply.body).toMatch(/^a\(.*not_found/);
  });

  test("an error of a layer is a bug: answered with 500, reported and kept", async () => {
    const bug = new Error("a bug");
    const { reply, crashes, kept } = await answered(() => [
      () => {
        throw bug;
      },
    ]);
    expect([reply.status, crashes, kept?.rejected?.reason]).toEqual([500, [bug], "internal"]);
  });

  test("one that decides after another one has an answer is not asked", async () => {
    const { reply, steps, kept } = await answered((it) => [answering("first"), answering("second"), delivery(it)]);
    expect([reply.status, reply.body, kept?.rejected?.reason]).toEqual([503, "first", "first"]);
    expect(steps).toEqual(["identify"]);
  });

  test("waits add up, and are over before the answer is given", async () => {
    const waiting = deciding({ active: true, take: () => ({ delay: 1 }) });
    const { reply, steps } = await answered((it) => [waiting, answering("late"), delivery(it)]);
    expect([reply.body, steps]).toEqual(["late", ["wait", "identify"]]);
  });
});

test("a wait that is over before it begins listens to no signal", async () => {
  const { signal } = new AbortController();
  await pause(60_000, AbortSignal.abort(), signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
