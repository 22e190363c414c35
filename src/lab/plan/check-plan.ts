import type { JsonObject } from "../../kernel/base/json.ts";
import { pointerTo, stepsOf } from "../../kernel/base/json.ts";
import { counted } from "../../kernel/base/text.ts";
import { isSdkEvent } from "../../state/journal/sdk-properties.ts";
import type {
  Plan,
  PlannableEvent,
  PlanResult,
  PropertiesCheck,
  ValueFinding,
  Violation,
  ViolationKind,
} from "./plan.ts";
import { readPlan } from "./read-plan.ts";
import { meant, printable, shownValue } from "./wording.ts";

/**
 * Compares events with a plan, or with the plan file at a path; `text` is the result as a report.
 * @throws PlanError if the plan is wrong
 */
export async function checkPlan(
  plan: Plan | string,
  events: Iterable<PlannableEvent> | AsyncIterable<PlannableEvent>,
): Promise<PlanResult & { readonly text: string }> {
  const result = await checkEvents(typeof plan === "string" ? await readPlan(plan) : plan, events);
  return { ...result, text: reportViolations(result) };
}

/** Violations that are kept, the rest are counted; and violations of one event that are reported. */
const mostKept = 10_000;
const mostOfEvent = 50;

type Events = Iterable<PlannableEvent> | AsyncIterable<PlannableEvent>;

/**
 * Compares events with a plan. Skips dropped events and what SDKs add: events and properties whose names begin with
 * `$`, `token`, `distinct_id`, campaign parameters; unless the plan names them.
 * @throws PlanError if the plan is wrong
 */
export async function checkEvents(plan: Plan, events: Events): Promise<PlanResult> {
  const checks = await plan.checks();
  const seen = new Set<string>();
  const violations: Violation[] = [];
  let [total, checked, offending] = [0, 0, 0];
  for await (const event of events) {
    if (event.outcome === "dropped") continue;
    checked += 1;
    if (checks.has(event.event)) seen.add(event.event);
    const found = await violationsOf(event, plan, checks);
    total += found.length;
    if (found.length > 0) offending += 1;
    violations.push(...found.slice(0, mostKept - violations.length));
  }
  const names = [...plan.events.keys()];
  return {
    violations,
    total,
    checked,
    offending,
    seen: names.filter((it) => seen.has(it)),
    unseen: names.filter((it) => !seen.has(it)),
  };
}

async function violationsOf(
  event: PlannableEvent,
  plan: Plan,
  checks: ReadonlyMap<string, PropertiesCheck>,
): Promise<Violation[]> {
  const check = checks.get(event.event);
  const { seq, event: name, distinct_id } = event;
  const who = { seq, event: name, distinct_id };
  if (!check) return isLetPass(name, plan) ? [] : [{ ...who, ...unplanned(name, plan) }];
  const findings = await check(event.properties as JsonObject);
  return findings.slice(0, mostOfEvent).map((it) => ({ ...who, ...placed(it) }));
}

const isLetPass = (name: string, { unplanned }: Plan): boolean => unplanned === "ignore" || isSdkEvent(name);

const unplanned = (name: string, { events }: Plan): Omit<Violation, "seq" | "event" | "distinct_id"> => ({
  kind: "unplanned_event",
  pointer: "/event",
  expected: "a planned event",
  actual: shownValue(name),
  hint: meant(name, [...events.keys()]),
});

const placed = ({ path, ...finding }: ValueFinding) => ({ ...finding, pointer: pointerTo(["properties", ...path]) });

const mostLines = 60;

/** The result of a check as a report: the same violation of many events is one line. */
export function reportViolations(result: PlanResult): string {
  const { violations, total, checked, offending, seen, unseen } = result;
  const planned = seen.length + unseen.length;
  const coverage = `${seen.length} of ${counted(planned, "planned event")} seen`;
  const head =
    total === 0
      ? `${counted(checked, "event")} as planned; ${coverage}`
      : `${counted(total, "violation")} of the tracking plan in ${offending} of ${counted(checked, "event")}; ${coverage}`;
  const lines = groupedByEvent(violations).flatMap(([name, rows]) => [printable(name), ...rows.map(lineOf)]);
  const more = lines.length - mostLines;
  const never = unseen.length === 0 ? [] : [`never seen: ${listed(unseen)}`];
  return [head, ...lines.slice(0, mostLines), ...(more > 0 ? [`… and ${more} more lines`] : []), ...never].join("\n");
}

const mostNames = 40;

function listed(names: readonly string[]): string {
  const more = names.length - mostNames;
  const shown = names.slice(0, mostNames).map((it) => printable(it));
  return more > 0 ? `${shown.join(", ")} and ${more} others` : shown.join(", ");
}

interface Row {
  readonly first: Violation;
  count: number;
}

/** Violations by the name of their event, equal ones together. */
export function groupedByEvent(violations: readonly Violation[]): [name: string, rows: Row[]][] {
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
  unknown_property: ({ pointer, actual }) => `${spelled(pointer)} is not in the plan, got ${actual ?? "nothing"}`,
};

/** One violation in a line, without its event. */
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
