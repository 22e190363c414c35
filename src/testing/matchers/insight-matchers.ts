import { describeValue } from "../../lab/assert/match/describe.ts";
import { nameText, quoted } from "../../lab/assert/match/printable.ts";
import type { FunnelStep, QueryResult } from "../../service/query/client.ts";
import type { DropOffs } from "../../service/query/shapes.ts";
import {
  checkExpectation,
  formOf,
  type InsightExpectation,
  type InsightOrQuery,
  insightDifferences,
} from "./insight-expectation.ts";
import { type IdentityOptions, type MatcherCall, type MatcherOutcome, messageOf } from "./matcher.ts";
import { until } from "./person-matchers.ts";

type DropOffStep = DropOffs["steps"][number];

const look = ({ tenant }: MatcherCall, insight: InsightOrQuery): Promise<QueryResult> =>
  typeof insight === "string" ? tenant.insight(insight) : tenant.query<{ kind: string }>(insight);

const nameOf = ({ name, custom_name }: FunnelStep): string => nameText(custom_name ?? name ?? "every event");

const stepLines = (steps: readonly FunnelStep[]): string[] =>
  steps.map((it) => `  step ${it.order + 1} ${nameOf(it)}: ${it.count}`);

function resultLines({ query, results, columns }: QueryResult): string[] {
  if (formOf(query) === "FunnelsQuery" && Array.isArray(results) && !results.some((it) => Array.isArray(it)))
    return stepLines(results as never);
  const heads = columns ? [`  columns: ${columns.map((it) => quoted(it)).join(", ")}`] : [];
  const shown = Array.isArray(results) ? results.slice(0, 10) : [results];
  return [...heads, ...shown.map((it) => `  ${describeValue(it, 200)}`)];
}

const shownPersons = 3;

function leftLines({ name, left, persons }: DropOffStep): string[] {
  if (left === 0) return [];
  const shown = persons.slice(0, shownPersons);
  const more = left - shown.length;
  return [
    `${left} left after ${nameText(name)}:`,
    ...shown.map(({ distinct_ids: ids, last_events: events }) => {
      const last = events.map(({ seq, event }) => `#${seq} ${nameText(event)}`).join(", ");
      return `  ${ids.map((it) => quoted(it)).join(", ")}: last events ${last}`;
    }),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}

async function dropOffLines({ tenant }: MatcherCall, of: InsightOrQuery, kind: string): Promise<string[]> {
  return kind === "FunnelsQuery" ? (await tenant.dropOffs(of)).flatMap(leftLines) : [];
}

/** An insight can change as time passes, without an event: it is computed again after this time, ms. */
const recomputedAfter = 500;

export async function insight(
  call: MatcherCall,
  of: InsightOrQuery,
  expected: InsightExpectation,
  { timeoutMs }: IdentityOptions = {},
): Promise<MatcherOutcome> {
  const { title } = call;
  checkExpectation(title, expected);
  const differences = (answer: QueryResult) => insightDifferences(title, expected, answer);
  const answer = await until(
    call,
    timeoutMs,
    () => look(call, of),
    (it) => differences(it).length === 0,
    recomputedAfter,
  );
  const wrong = differences(answer);
  if (wrong.length === 0) return { pass: true, text: messageOf(call, "it shows:", ...resultLines(answer)) };
  const left = await dropOffLines(call, of, answer.query.kind);
  return { pass: false, text: messageOf(call, ...wrong, "it shows:", ...resultLines(answer), ...left) };
}
