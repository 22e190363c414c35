import { assertionsOf } from "../client/assertions.ts";
import type { Asked } from "./asked.ts";

/**
 * Looks, and looks again after each event that comes, until it holds or the time is over; with `.not` once it is
 * quiet. Returns what was seen last.
 */
export async function until<T>(
  asked: Asked,
  timeoutMs: number | undefined,
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
): Promise<T> {
  const { tenant, isNot, title } = asked;
  if (isNot) await tenant.settle(timeoutMs === undefined ? {} : { timeoutMs });
  const end = performance.now() + (isNot ? 0 : assertionsOf(tenant).within(timeoutMs));
  for (;;) {
    const since = await tenant.events.mark();
    const seen = await look();
    const rest = Math.ceil(end - performance.now());
    if (holds(seen) || rest <= 0) return seen;
    if (!(await hasNext(asked, { since, timeoutMs: rest, title }))) return look();
  }
}

async function hasNext(
  { tenant }: Asked,
  options: { since: number; timeoutMs: number; title: string },
): Promise<boolean> {
  try {
    await tenant.events.waitFor({}, undefined, options);
    return true;
  } catch (error) {
    if (error instanceof Error && "report" in error) return false;
    throw error;
  }
}
