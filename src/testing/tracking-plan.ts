import type { StoredEvent } from "../index.ts";
import type { Plan } from "../plan/types.ts";
import { type Asked, type Judged, told } from "./asked.ts";

/** A page of the control API. */
const page = 10_000;

/** All kept events of the scope, once it is quiet. */
async function eventsOf({ tenant }: Asked): Promise<StoredEvent[]> {
  await tenant.settle();
  const events: StoredEvent[] = [];
  for (let since = 0; ; ) {
    const more = await tenant.events.list({ outcome: "kept", since, limit: page });
    events.push(...more);
    const last = more.at(-1);
    if (!last || more.length < page) return events;
    since = last.seq;
  }
}

/** The JSON of a plan file is none yet. */
const isPlan = (plan: unknown): plan is Plan | string =>
  typeof plan === "string" || (typeof plan === "object" && plan !== null && "checks" in plan);

/** A plan's parts say nothing in a title. */
function titled(asked: Asked, plan: Plan | string): Asked {
  if (typeof plan === "string") return asked;
  const name = plan.title === null ? "a plan" : JSON.stringify(plan.title);
  return { ...asked, title: asked.title.replace(/\(.*/s, () => `(${name})`) };
}

/** Plans are read and checked by what only those need who have one. */
export async function trackingPlan(asked: Asked, plan: Plan | string): Promise<Judged> {
  if (!isPlan(plan))
    throw new TypeError(`${asked.title}: give what definePlan() made, or the path of a plan file`);
  const { checkPlan } = await import("../plan/check-plan.ts");
  const { violations, text } = await checkPlan(plan, await eventsOf(asked));
  return { pass: violations.length === 0, text: told(titled(asked, plan), text) };
}
