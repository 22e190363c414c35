import { beforeAll, describe, expect, test } from "vitest";
import { openSim } from "../../support/sim.ts";

const count = 20_000;
const { sim } = await openSim();
beforeAll(async () => {
  const properties = { text: "ü".repeat(300), list: [{}, [1, 2, 3]] };
  const batch = Array.from({ length: count }, (_, i) => ({ event: `e${i}`, distinct_id: "u", properties }));
  const body = JSON.stringify({ api_key: sim.apiKey, batch });
  await sim.handle(new Request(`${sim.url}/batch/`, { method: "POST", body }));
  for (let i = 0; i < 40; i++) await send({ text: "x".repeat(300_000), i });
});

const send = (properties: object) =>
  sim.handle(
    new Request(`${sim.url}/capture/`, {
      method: "POST",
      body: JSON.stringify({ api_key: sim.apiKey, event: "later", distinct_id: "u", properties }),
    }),
  );

/** The answer, and the turns of the event loop that other calls had meanwhile. */
async function ask(path: string): Promise<{ text: string; turns: number }> {
  let [turns, isOver] = [0, false];
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const response = await sim.handle(new Request(`${sim.url}/__sim/${path}`));
  isOver = true;
  return { text: await response.text(), turns };
}

describe("an answer that takes long leaves turns to other calls", () => {
  const paths: [path: string, turns: number][] = [
    ["requests/1", 20],
    ["requests.har", 30],
    ["state", 3],
    ["events?limit=10000", 20],
    ["totals", 20],
    ["totals?requests=%22none%22", 20],
    ["requests?filter=%22none%22", 45],
    // it ends after 300 ms, in which a busy machine has few turns
    ["feed/requests?filter=%22none%22", 3],
    ["lint", 20],
    ["persons/u", 40],
    ["openapi.json", 20],
  ];
  test.each(paths)("%s", async (path, least) => {
    const { text, turns } = await ask(path);
    expect(turns).toBeGreaterThan(least);
    expect(JSON.stringify(JSON.parse(text))).toHaveLength(
      // the state has line breaks between its lines, and at its end
      text.replaceAll(/\n/g, "").length,
    );
  });

  test.each(["E19999", "LATER"])("requests are found by %s, a word in large bodies", async (word) => {
    const { text } = await ask(`requests?limit=100&filter=${word}`);
    const found = JSON.parse(text).requests.map(({ n }: { n: number }) => n);
    expect(found).toStrictEqual(word === "LATER" ? Array.from({ length: 40 }, (_, i) => 41 - i) : [1]);
  });

  test("a request has its events and its body as they were sent", async () => {
    const { text } = await ask("requests/1");
    const { carried, body } = JSON.parse(text);
    expect(carried).toHaveLength(count);
    expect(body.batch[count - 1]).toMatchObject({ event: `e${count - 1}`, properties: { list: [{}, [1, 2, 3]] } });
    expect(carried[5]).toMatchObject({ event: "e5", properties: { text: "ü".repeat(300) } });
  });
});

test("a state is that of one moment, whatever happens meanwhile", async () => {
  const asked = ask("state");
  await sim.events.clear();
  const { journal } = JSON.parse((await asked).text);
  expect(journal).toHaveLength(41);
  expect(new Set(journal.map((it: { cleared?: true }) => it.cleared === true)).size).toBe(1);
});
