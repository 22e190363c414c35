import { checkEvents } from "./check-events.ts";
import { readPlan } from "./read-plan.ts";
import { reportViolations } from "./report.ts";
import type { Plan, PlannableEvent, PlanResult } from "./types.ts";

/**
 * Compares events with a plan, or with the plan file at a path, and says in `text` what came of it.
 * @throws PlanError when the plan itself is wrong
 */
export async function checkPlan(
  plan: Plan | string,
  events: Iterable<PlannableEvent> | AsyncIterable<PlannableEvent>,
): Promise<PlanResult & { readonly text: string }> {
  const result = await checkEvents(typeof plan === "string" ? await readPlan(plan) : plan, events);
  return { ...result, text: reportViolations(result) };
}
