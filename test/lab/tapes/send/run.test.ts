import { createServer, type Server } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { runSend, type SendRun } from "../../../../src/lab/tapes/send/run.ts";
import { surveyTape } from "../../../../src/lab/tapes/send/survey.ts";
import { createTransport } from "../../../../src/lab/tapes/upstream/transport.ts";
import { createAgents } from "../../../../src/lab/tapes/upstream/upstreams.ts";
import { exchangeWith } from "../har/tapes.ts";

type Listener = Parameters<typeof createServer>[1];

async function served(listener: Listener): Promise<URL> {
  const server: Server = createServer({}, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return new URL(`http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`);
}

async function* from(exchanges: readonly Exchange[]): AsyncGenerator<Exchange> {
  yield* exchanges;
}

async function sendAll(exchanges: readonly Exchange[], target: URL, over: Partial<SendRun> = {}) {
  const { kinship } = await surveyTape(from(exchanges));
  const transport = createTransport(createAgents(undefined, over.concurrency ?? 4));
  onTestFinished(() => transport.close());
  return runSend(from(exchanges), {
    plan: { target, keys: {}, shiftMs: 0 },
    concurrency: 4,
    kinship,
    transport,
    stop: new AbortController().signal,
    cut: new AbortController().signal,
    ...over,
  });
}

const event = (i: number, distinct_id: string, over: object = {}): Exchange =>
  exchangeWith(
    { url: "https://us.i.posthog.com/e/", body: { json: { event: `${i}`, distinct_id, ...over } } },
    {},
    { i, route: "capture" },
  );

/** A server that answers late and out of order: the earlier a request came, the later; it notes when each was over. */
async function unruly() {
  const over: { name: string; who: string }[] = [];
  let open = 0;
  let most = 0;
  const target = await served((request, response) => {
    most = Math.max(most, ++open);
    const chunks: Buffer[] = [];
    request.on("data", (it: Buffer) => chunks.push(it));
    request.on("end", () => {
      const { event: name, distinct_id } = JSON.parse(Buffer.concat(chunks).toString());
      let turns = 40 - (Number(name) % 40);
      const later = () => {
        if (turns-- > 0) return void setImmediate(later);
        open--;
        over.push({ name, who: distinct_id });
        response.end("{}");
      };
      later();
    });
  });
  return { target, over, most: () => most };
}

describe("order", () => {
  const people = ["ann", "ben", "cleo", "dan", "eve"];
  const many = Array.from({ length: 120 }, (_, i) => event(i + 1, people[i % people.length] ?? ""));

  test("each person's requests arrive in order, several persons' side by side", async () => {
    const { target, over, most } = await unruly();
    expect(await sendAll(many, target, { concurrency: 8 })).toMatchObject({ answered: 120, failed: 0 });
    for (const person of people) {
      const names = over.filter(({ who }) => who === person).map(({ name }) => Number(name));
      expect(names).toEqual([...names].sort((a, b) => a - b));
      expect(names).toHaveLength(24);
    }
    expect(most()).toBeGreaterThan(1);
  });

  test("a concurrency of 1 is one by one; any other is its limit", async () => {
    const one = await unruly();
    await sendAll(many, one.target, { concurrency: 1 });
    expect(one.over.map(({ name }) => Number(name))).toEqual(many.map(({ i }) => i));
    expect(one.most()).toBe(1);
    const three = await unruly();
    await sendAll(many, three.target, { concurrency: 3 });
    expect(three.over.map(({ name }) => Number(name))).not.toEqual(many.map(({ i }) => i));
    expect(three.most()).toBeLessThanOrEqual(3);
  });

  test("ids that become one person share a lane from the beginning", async () => {
    const ids = Array.from({ length: 16 }, (_, i) => `anon-${i}`);
    const merged = [
      ...ids.map((id, i) => event(i + 1, id)),
      ...ids.map((id, i) => event(i + 17, "ann", { properties: { $anon_distinct_id: id } })),
    ];
    const { target, over, most } = await unruly();
    await sendAll(merged, target, { concurrency: 8 });
    expect(over.map(({ name }) => Number(name))).toEqual(merged.map(({ i }) => i));
    expect(most()).toBe(1);
  });

  test("a batch of several persons keeps its place among each one's requests", async () => {
    const batch = exchangeWith(
      {
        url: "https://us.i.posthog.com/e/",
        body: { json: { event: "11", batch: people.map((distinct_id) => ({ event: "b", distinct_id })) } },
      },
      {},
      { i: 11, route: "capture" },
    );
    const before = Array.from({ length: 10 }, (_, i) => event(i + 1, people[i % 5] ?? ""));
    const after = Array.from({ length: 10 }, (_, i) => event(i + 12, people[i % 5] ?? ""));
    const { target, over } = await unruly();
    await sendAll([...before, batch, ...after], target, { concurrency: 8 });
    expect(over.findIndex(({ name }) => name === "11")).toBe(10);
  });
});

describe("answers", () => {
  const answering = (status: number) => served((_, response) => response.writeHead(status).end("{}"));

  test.each([
    [200, 200, 0],
    [200, 204, 0],
    [200, 304, 0],
    [304, 200, 0],
    [200, 302, 1],
    [200, 404, 1],
    [404, 400, 0],
    [404, 200, 1],
    [500, 400, 1],
  ])("%d on the tape, %d now: %d of another class", async (recorded, got, differing) => {
    const exchange = exchangeWith({}, { status: recorded });
    const tally = await sendAll([exchange], await answering(got));
    expect(tally).toMatchObject({ answered: 1, differing, byStatus: new Map([[got, 1]]) });
  });

  test("what was recorded without an answer differs from none", async () => {
    expect(await sendAll([exchangeWith({}, null)], await answering(500))).toMatchObject({ differing: 0 });
  });
});

describe("no answer", () => {
  const many = Array.from({ length: 40 }, (_, i) => event(i + 1, "ann"));

  test("no one there: the first failure ends it", async () => {
    const target = await served((_, response) => response.end());
    const noOne = new URL("http://127.0.0.1:1");
    expect(await sendAll(many, noOne)).toMatchObject({ answered: 0, failed: 1, unreachable: true });
    expect(await sendAll(many, target)).toMatchObject({ answered: 40, failed: 0, unreachable: false });
  });

  test("one lost answer is counted, and the rest is sent", async () => {
    let count = 0;
    const target = await served((request, response) => {
      request.resume();
      if (++count === 5) response.writeHead(200, { "content-length": 10 }).write("12345", () => request.destroy());
      else response.end("{}");
    });
    expect(await sendAll(many, target)).toMatchObject({ answered: 39, failed: 1, unreachable: false });
  });

  test("a target that goes away is given up", async () => {
    let count = 0;
    const target = await served((request, response) => {
      request.resume();
      if (++count > 5) response.writeHead(200, { "content-length": 10 }).write("12345", () => request.destroy());
      else response.end("{}");
    });
    expect(await sendAll(many, target)).toMatchObject({ answered: 5, failed: 10, unreachable: true });
  });

  test("an answer that never ends is given up", async () => {
    const target = await served((request, response) => {
      request.resume();
      response.writeHead(200).write("…");
    });
    const transport = createTransport(createAgents(undefined, 1), 50);
    onTestFinished(() => transport.close());
    const tally = await sendAll([event(1, "ann")], target, { transport });
    expect(tally).toMatchObject({ failed: 1, failure: "there was no complete response within 50 ms" });
  });

  test("stopped: nothing more is begun, what is under way ends, and a wait is over at once", async () => {
    const stop = new AbortController();
    let count = 0;
    const target = await served((request, response) => {
      request.resume();
      if (++count === 3) stop.abort();
      response.end("{}");
    });
    expect(await sendAll(many, target, { stop: stop.signal })).toMatchObject({ answered: 3, failed: 0 });
    const wait = new AbortController();
    const tally = await sendAll(many, target, {
      stop: wait.signal,
      rate: { perSecond: 0.001 },
      onStep: () => wait.abort(),
    });
    expect(tally).toMatchObject({ answered: 1, failed: 0, unreachable: false });
  });

  test("any number of lanes may wait without a word from Node", async () => {
    const warnings: string[] = [];
    const listen = (it: Error) => void warnings.push(it.name);
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));
    const target = await served((_, response) => response.end("{}"));
    const rate = { perSecond: 2000 };
    const others = Array.from({ length: 40 }, (_, i) => event(i + 1, `person-${i}`));
    const tally = await sendAll(others, target, { rate, concurrency: 32 });
    expect(tally).toMatchObject({ answered: 40 });
    expect(warnings).toEqual([]);
  });
});
