import { readMoment } from "../../kernel/base/time-text.ts";
import type { StoredProject } from "../../state/documents/world.ts";
import type { GenerationPlan } from "./generate.ts";
import { personaOf } from "./personas.ts";
import type { AuthoredTraffic } from "./shapes.ts";

/** What traffic depends on apart from its description. */
export interface GenerationSetting {
  /** Its last full minute is the end, where the description has none: ms since the epoch. */
  readonly now: number;
  /** IANA name. */
  readonly timeZone: string;
  /** First day of a week: 0 Sunday, 1 Monday. */
  readonly weekStart: 0 | 1;
}

export const settingOf = (
  { timezone, settings }: Pick<StoredProject, "timezone" | "settings">,
  now: number,
): GenerationSetting => ({ now, timeZone: timezone, weekStart: settings.week_start_day === 1 ? 1 : 0 });

/** A description of traffic with every default filled in. */
export function planOf(
  { persona = "shopper", users = 500, days = 90, until, seed = 1 }: AuthoredTraffic,
  { now, timeZone, weekStart }: GenerationSetting,
): GenerationPlan {
  return {
    persona: personaOf(persona),
    users,
    days,
    seed,
    until: (until === undefined ? undefined : readMoment(until)) ?? now - (now % 60_000),
    timeZone,
    weekStart,
  };
}
