import fc from "fast-check";
import { expect, test } from "vitest";
import { tableOf } from "../table-of.ts";
import { ask } from "./run-query.ts";

interface Row {
  event: string;
  minute: number;
  amount: number | undefined;
}

const row = fc.record({
  event: fc.constantFrom("a", "b", "c"),
  minute: fc.integer({ min: 0, max: 3000 }),
  amount: fc.option(
    fc.integer({ min: -50, max: 50 }).map((it) => it / 2),
    { nil: undefined },
  ),
});

const start = Date.parse("2026-01-01T00:00:00Z");
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const orNull = (values: readonly number[], of: (values: readonly number[]) => number): number | null =>
  values.length === 0 ? null : of(values);

/** Decides that the property is a number. */
const first: Row = { event: "z", minute: 0, amount: 1 };

function askOf(rows: readonly Row[], query: string) {
  const events = rows.map(({ event, minute, amount }) => {
    const at = new Date(start + minute * 60_000).toISOString();
    return { event, at, id: "u", ...(amount !== undefined && { properties: { amount } }) };
  });
  return ask(query, { table: tableOf(events), now: start, timeZone: "UTC", weekStart: 0 });
}

/** The row of a group, computed by the plainest means. */
function expected(event: string, rows: readonly Row[]): unknown[] {
  const amounts = rows.flatMap((it) => (it.amount === undefined ? [] : [it.amount]));
  const sorted = amounts.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
  const positive = amounts.filter((it) => it > 0);
  return [
    event,
    rows.length,
    amounts.length,
    orNull(amounts, sum),
    orNull(amounts, (it) => sum(it) / it.length),
    orNull(amounts, (it) => Math.min(...it)),
    orNull(amounts, (it) => Math.max(...it)),
    orNull(amounts, () => median),
    new Set(amounts).size,
    new Set(rows.map((it) => `${it.minute % 2} ${it.amount}`).filter((it) => !it.endsWith("undefined"))).size,
    amounts,
    [...new Set(amounts)],
    positive.length,
    orNull(positive, sum),
    orNull(amounts, (it) => it[0] ?? 0),
    orNull(amounts, (it) => it.at(-1) ?? 0),
    new Set(rows.map((it) => Math.floor(it.minute / 1440))).size,
  ];
}

test("aggregations by group are those of plain JavaScript", async () => {
  const query = `
    select event, count(), count(properties.amount), sum(properties.amount), avg(properties.amount),
      min(properties.amount), max(properties.amount), median(properties.amount), uniq(properties.amount),
      uniq(dateDiff('minute', toDateTime('2026-01-01 00:00:00'), timestamp) % 2, properties.amount),
      groupArray(properties.amount), groupUniqArray(properties.amount), countIf(properties.amount > 0),
      sumIf(properties.amount, properties.amount > 0), any(properties.amount), anyLast(properties.amount),
      count(distinct toDate(timestamp))
    from events group by event order by event`;
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows: Row[]) => {
      const all = [first, ...rows];
      const { results } = await askOf(all, query);
      const names = [...new Set(all.map((it) => it.event))].sort();
      expect(results).toEqual(
        names.map((name) =>
          expected(
            name,
            all.filter((it) => it.event === name),
          ),
        ),
      );
    }),
    { numRuns: 60 },
  );
});

test("filters, order and limits are those of plain JavaScript", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), fc.nat(50), fc.nat(20), async (rows: Row[], limit, offset) => {
      const all = [first, ...rows];
      const { results } = await askOf(
        all,
        `select event, properties.amount from events where event != 'b' or properties.amount <= 3
         order by properties.amount desc, event limit ${limit} offset ${offset}`,
      );
      const kept = all.filter((it) => it.event !== "b" || (it.amount !== undefined && it.amount <= 3));
      const inOrder = kept.toSorted(
        (a, b) =>
          (b.amount ?? Number.NEGATIVE_INFINITY) - (a.amount ?? Number.NEGATIVE_INFINITY) ||
          (a.event < b.event ? -1 : Number(a.event > b.event)),
      );
      const wanted = inOrder.slice(offset, offset + limit).map((it) => [it.event, it.amount ?? null]);
      expect(results).toEqual(wanted);
    }),
    { numRuns: 100 },
  );
});
