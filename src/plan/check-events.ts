import type { JsonObject } from "../kernel/json.ts";
import { pointerTo } from "../kernel/json-pointer.ts";
import { isSdkEvent } from "../kernel/sdk-properties.ts";
import { meant } from "./oddity.ts";
import { shownValue } from "./shown.ts";
import type { Check, Finding, Plan, PlannableEvent, PlanResult, Violation } from "./types.ts";

/** More violations than this are counted, not kept; and of one event more than this are not looked at. */
const mostKept = 10_000;
const mostOfEvent = 50;

type Events = Iterable<PlannableEvent> | AsyncIterable<PlannableEvent>;

/**
 * Compares events with a plan. Dropped events are not looked at, nor is what SDKs add by themselves: events and
 * properties whose names begin with `$`, `token`, `distinct_id`, campaign parameters; unless the plan names them.
 * @throws PlanError when the plan itself is wrong
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
  checks: ReadonlyMap<string, Check>,
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

const placed = ({ path, ...finding }: Finding) => ({
  ...finding,
  pointer: pointerTo(["properties", ...path]),
});
