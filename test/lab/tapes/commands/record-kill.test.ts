import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { readTape } from "../../../../src/lab/tapes/format/read.ts";
import type { TapeProblem } from "../../../../src/lab/tapes/shapes.ts";
import { endAll, newFolder, phxSim, type Ready } from "../../../support/phx-sim.ts";

/** A service that takes everything at once, and reports which one it was. */
const cloud = createServer(async (request, response) => {
  // A recorder that is killed may leave half a request behind.
  const body = await buffer(request).catch(() => undefined);
  if (body) response.writeHead(200, { "content-type": "application/json" }).end(body);
});
let upstream = "";
const folder = newFolder();
const tape = join(folder, "long.tape.ndjson");

beforeAll(async () => {
  await new Promise<void>((resolve) => cloud.listen(0, "127.0.0.1", resolve));
  upstream = `http://127.0.0.1:${(cloud.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await endAll();
  cloud.closeAllConnections();
  await new Promise((resolve) => cloud.close(resolve));
});

const lanes = 4;

/** Every tenth body is large enough for a file of its own. */
const bodyOf = (n: number): string =>
  JSON.stringify({ n, distinct_id: "u1", fill: "x".repeat(n % 10 === 0 ? 70_000 : 300) });

interface Traffic {
  /** Numbers that were asked for. */
  asked: Set<number>;
  /** Numbers whose answer came. */
  answered: Set<number>;
  /** Of each connection the number whose answer came last: the sim may have died before it was on the tape. */
  last: Set<number>;
}

/** Asks over four connections until the sim is gone. */
async function traffic(url: string, first: number, onAnswer: (count: number) => void): Promise<Traffic> {
  const asked = new Set<number>();
  const answered = new Set<number>();
  const last = new Set<number>();
  const lane = async () => {
    for (let before: number | undefined; ; ) {
      const n = first + asked.size;
      asked.add(n);
      const text = await fetch(`${url}/flags/?v=2&n=${n}`, { method: "POST", body: bodyOf(n) })
        .then((response) => response.text())
        .catch(() => undefined);
      if (text === undefined) {
        if (before !== undefined) last.add(before);
        return;
      }
      expect(text).toBe(bodyOf(n));
      answered.add(n);
      before = n;
      onAnswer(answered.size);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { asked, answered, last };
}

async function recording() {
  const args = ["record", "--upstream", upstream, "--tape", tape, "--port", "0", "--json", "--quiet"];
  const sim = phxSim(args, { cwd: folder, isOwn: true });
  const [line] = await sim.says("stdout", /^\{.*\}\n/);
  const { url }: Ready = JSON.parse(line);
  return { sim, url };
}

async function readAll(): Promise<{ exchanges: Exchange[]; problems: TapeProblem[] }> {
  const problems: TapeProblem[] = [];
  const exchanges: Exchange[] = [];
  const options = { bodies: "whole", onProblem: (it: TapeProblem) => problems.push(it) } as const;
  for await (const it of readTape(tape, options)) exchanges.push(it);
  return { exchanges, problems };
}

const numberOf = ({ req }: Exchange): number => Number(new URL(req.url).searchParams.get("n"));

/** Lines that are not JSON; the last one may be cut off. */
function brokenLines(): number[] {
  const lines = readFileSync(tape, "utf8").split("\n");
  return lines.slice(0, -1).flatMap((line, at) => {
    try {
      JSON.parse(line);
      return [];
    } catch {
      return [at + 1];
    }
  });
}

test("kill -9 again and again: whole lines, what was answered is there, the next recording goes on", async () => {
  const all: Traffic = { asked: new Set(), answered: new Set(), last: new Set() };
  for (const kill of [5, 37, 90, 160, 11]) {
    const { sim, url } = await recording();
    const { asked, answered, last } = await traffic(url, all.asked.size + 1, (count) => {
      if (count === kill) sim.child.kill("SIGKILL");
    });
    await sim.ended;
    expect(sim.child.signalCode).toBe("SIGKILL");
    for (const it of asked) all.asked.add(it);
    for (const it of answered) all.answered.add(it);
    for (const it of last) all.last.add(it);

    expect(brokenLines()).toEqual([]);
    const { exchanges, problems } = await readAll();
    expect(problems.filter(({ detail }) => !detail.includes("unfinished"))).toEqual([]);
    const taped = new Map(exchanges.map((it) => [numberOf(it), it]));
    expect(taped.size).toBe(exchanges.length);
    expect([...taped.keys()].filter((it) => !all.asked.has(it))).toEqual([]);
    expect([...all.answered].filter((it) => !taped.has(it) && !all.last.has(it))).toEqual([]);
  }

  const { sim, url } = await recording();
  const last = all.asked.size + 1;
  expect(await (await fetch(`${url}/flags/?v=2&n=${last}`, { method: "POST", body: bodyOf(last) })).text()).toBe(
    bodyOf(last),
  );
  await sim.signal("SIGTERM");
  const { exchanges, problems } = await readAll();
  expect(problems).toEqual([]);
  expect(new Set(exchanges.map(({ i }) => i)).size).toBe(exchanges.length);
  expect(exchanges.map(numberOf)).toContain(last);
  for (const it of exchanges.filter(({ complete }) => complete)) {
    const body = { json: JSON.parse(bodyOf(numberOf(it))) };
    expect([it.req.body, it.res?.body]).toEqual([body, body]);
  }
});
