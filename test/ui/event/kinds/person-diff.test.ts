import { expect, test } from "vitest";
import { type Sim, startSim } from "../../../../src/index.ts";
import type { GroupDetails, PersonTimeline } from "../../../../src/lab/person-history/shapes.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";
import { type DiffRow, groupDiff, personDiff } from "../../../../ui/views/event/kinds/person-diff.ts";

async function send(sim: Sim, ...batch: object[]): Promise<void> {
  const body = JSON.stringify({ api_key: sim.apiKey, batch });
  await fetch(`${sim.url}/batch/`, { method: "POST", headers: { "content-type": "application/json" }, body });
}

async function read<T>(sim: Sim, path: string): Promise<T> {
  return (await (await fetch(`${sim.url}/__sim/${path}`)).json()) as T;
}

const lines = (rows: readonly DiffRow[]): string[] =>
  rows.map(({ sign, name, by, from, to, sent }) =>
    [sign, name, by, ...[from, to, sent].map((it) => JSON.stringify(it))].join(" ").trim(),
  );

test("an identify: changed, new, removed and as before, as the sim replays it", async () => {
  await using sim = await startSim();
  await send(
    sim,
    {
      event: "$set",
      distinct_id: "anon-1",
      properties: { $set: { plan: "free", old: 1, ref: 1 }, $set_once: { first: 20 } },
    },
    {
      event: "$identify",
      distinct_id: "ines",
      properties: {
        $anon_distinct_id: "anon-1",
        $set: { plan: "pro", email: "ines@mail.test", ref: 1 },
        $set_once: { first: 22 },
        $unset: ["old", "never"],
      },
    },
  );
  const event = await read<StoredEvent>(sim, "events/2");
  const timeline = await read<PersonTimeline>(sim, "persons/ines/timeline?before=3&limit=1");
  const [entry] = timeline.events;
  expect(entry?.step?.join).toMatchObject({ other: "anon-1", into: "ines", outcome: "attached" });
  const { meant, others } = personDiff(event, entry);
  expect(lines(meant)).toEqual(
    [
      '± plan $set "free" "pro" ',
      '+ email $set  "ines@mail.test" ',
      "− old $unset 1  ",
      "= ref $set 1 1 ",
      "= first $set_once 20 20 22",
      "= never $unset   ",
    ].map((it) => it.trim()),
  );
  expect(others).toBe(3);

  expect(lines(personDiff(event, undefined).meant)).toContain('? plan $set  "pro"');
  expect(personDiff(event, undefined).others).toBeUndefined();
});

test("damaged: what is no object sets nothing", () => {
  const properties = { $set: [1], $set_once: "x", $unset: { a: 1, b: 2 } };
  const event = { event: "$set", properties } as unknown as StoredEvent;
  expect(lines(personDiff(event, undefined).meant)).toEqual(["? a $unset", "? b $unset"]);
  expect(groupDiff({ ...event, properties: { $group_set: 5 } }, undefined)).toEqual([]);
});

test("a group", async () => {
  await using sim = await startSim();
  const of = ($group_set: object) => ({
    event: "$groupidentify",
    distinct_id: "u",
    properties: { $group_type: "company", $group_key: "acme", $group_set },
  });
  await send(sim, of({ name: "Acme", tier: "gold" }), of({ name: "Acme", tier: "silver", seats: 3 }));
  const group = await read<GroupDetails>(sim, "groups/company/acme?limit=1");
  const event = await read<StoredEvent>(sim, "events/2");
  const step = group.history.find((it) => it.event.seq === 2);
  expect(lines(groupDiff(event, step))).toEqual([
    '± tier $group_set "gold" "silver"',
    "+ seats $group_set  3",
    '= name $group_set "Acme" "Acme"',
  ]);
});
