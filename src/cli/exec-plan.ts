import type { Sim } from "../index.ts";
import type { Plan } from "../plan/types.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { allEvents } from "./exec-events.ts";
import { Failure } from "./failure.ts";

/**
 * The tracking plan that a run is held against: the file that was named, or, where one is needed, the one that is
 * found. Read before the run, so that its mistakes come first. @throws Failure usage
 */
export async function planFor(
  named: string | undefined,
  isNeeded: boolean,
  shell: Shell,
): Promise<Plan | undefined> {
  if (named === undefined && !isNeeded) return undefined;
  const { findPlan, planName, readPlan } = await import("../plan/read-plan.ts");
  const { PlanError, planProblemLines } = await import("../plan/problems.ts");
  const file = named ?? (await findPlan(shell.cwd));
  if (file === undefined)
    throw new Failure(
      "usage",
      `--fail-on plan: there is no ${planName} in this folder or above; give --plan FILE`,
    );
  try {
    return await readPlan(file);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    const [first = "", ...more] = planProblemLines(error.problems, shell.cwd).map((line) =>
      clean(line, 1000),
    );
    throw new Failure("usage", [first, ...more].join("\n"), error);
  }
}

/** What became of the plan. */
export interface PlanOutcome {
  readonly violations: number;
  readonly text: string;
}

/** Holds what was captured against the plan; null without one. */
export async function heldAgainst(plan: Plan | undefined, sim: Sim): Promise<PlanOutcome | null> {
  if (!plan) return null;
  const { checkPlan } = await import("../plan/check-plan.ts");
  const { total, text } = await checkPlan(plan, allEvents(sim));
  return { violations: total, text };
}
