import { counted } from "../kernel/counted.ts";
import { stepsOf } from "../kernel/json-pointer.ts";
import { printable } from "./shown.ts";
import type { PlanResult, Violation, ViolationKind } from "./types.ts";

/** More lines than this help nobody. */
const mostLines = 60;

/** What came of a check, as text: the same violation of many events is one line. */
export function reportViolations(result: PlanResult): string {
  const { violations, total, checked, offending, seen, unseen } = result;
  const planned = seen.length + unseen.length;
  const coverage = `${seen.length} of ${counted(planned, "planned event")} seen`;
  const head =
    total === 0
      ? `${counted(checked, "event")} as planned; ${coverage}`
      : `${counted(total, "violation")} of the tracking plan in ${offending} of ${counted(checked, "event")}; ${coverage}`;
  const lines = grouped(violations).flatMap(([name, rows]) => [printable(name), ...rows.map(lineOf)]);
  const more = lines.length - mostLines;
  const never = unseen.length === 0 ? [] : [`never seen: ${listed(unseen)}`];
  return [
    head,
    ...lines.slice(0, mostLines),
    ...(more > 0 ? [`… and ${more} more lines`] : []),
    ...never,
  ].join("\n");
}

const mostNames = 40;

function listed(names: readonly string[]): string {
  const more = names.length - mostNames;
  const shown = names.slice(0, mostNames).map((it) => printable(it));
  return more > 0 ? `${shown.join(", ")} and ${more} others` : shown.join(", ");
}

/** Violations that say the same, oldest first. */
interface Row {
  readonly first: Violation;
  count: number;
}

function grouped(violations: readonly Violation[]): [name: string, rows: Row[]][] {
  const names = new Map<string, Map<string, Row>>();
  for (const it of violations) {
    const rows = names.get(it.event) ?? new Map<string, Row>();
    names.set(it.event, rows);
    const key = JSON.stringify([it.kind, it.pointer.replace(/\/\d+(?=\/|$)/g, "/0"), it.expected]);
    const row = rows.get(key);
    if (row) row.count += 1;
    else rows.set(key, { first: it, count: 1 });
  }
  return [...names].map(([name, rows]) => [name, [...rows.values()]]);
}

function lineOf({ first, count }: Row): string {
  const often = count === 1 ? "" : `  ×${count}, first`;
  return `  ${sentenceOf(first)}${often}  #${first.seq} of ${printable(first.distinct_id, 60) || '""'}`;
}

const sentences: Readonly<Partial<Record<ViolationKind, (it: Violation) => string>>> = {
  unplanned_event: () => "is not in the plan",
  missing_property: ({ pointer, expected }) => `${spelled(pointer)} is missing: expected ${expected}`,
  unknown_property: ({ pointer, actual }) =>
    `${spelled(pointer)} is not in the plan, got ${actual ?? "nothing"}`,
};

/** One violation in a line, without the event that it is about. */
export function sentenceOf(violation: Violation): string {
  const { kind, pointer, expected, actual, hint } = violation;
  const sentence =
    sentences[kind]?.(violation) ?? `${spelled(pointer)}: expected ${expected}, got ${actual ?? "nothing"}`;
  return hint === null ? sentence : `${sentence} (${hint})`;
}

/** `/properties/items/2/sku` as `properties.items[2].sku`. */
const spelled = (pointer: string): string =>
  printable(
    stepsOf(pointer)
      .map((step, i) => (/^\d+$/.test(step) ? `[${step}]` : i === 0 ? step : `.${step}`))
      .join(""),
    200,
  );
