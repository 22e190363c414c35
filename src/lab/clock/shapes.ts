import { z } from "zod";
import { readDuration, readTime } from "../../kernel/base/time-text.ts";

// Messages complete the words "expected …".

const timePhrase = 'a time from 1970 to 9999 such as 2025-06-01T12:00:00Z, ms since 1970, or "real"';
const durationPhrase = "a duration of 0 or more such as 1h, 90s or 1d12h (units: ms s m h d w), or whole ms";

const ClockTime = z
  .union([z.string(), z.number()], timePhrase)
  .transform((given, context) => {
    const time = given === "real" ? given : readTime(given);
    if (time !== undefined) return time;
    context.addIssue({ code: "custom", message: timePhrase });
    return z.NEVER;
  })
  .describe('A time in ISO 8601, ms since 1970, or "real" for the machine\'s time');

const Duration = z
  .union([z.string(), z.number()], durationPhrase)
  .transform((given, context) => {
    const ms = typeof given === "string" ? readDuration(given) : given;
    if (ms !== undefined && Number.isSafeInteger(ms) && ms >= 0) return ms;
    context.addIssue({ code: "custom", message: durationPhrase });
    return z.NEVER;
  })
  .describe("A duration such as 1h, 90s or 1d12h, or ms");

/** Absent keys change nothing. */
export const ClockChange = z
  .strictObject({
    now: ClockTime.optional(),
    frozen: z.boolean().optional().describe("Whether the clock stands still; false: it runs from its current time"),
  })
  .refine(({ now, frozen }) => now !== undefined || frozen !== undefined, "now, frozen or both in it");
export type ClockChange = z.output<typeof ClockChange>;

export const ClockAdvance = z.strictObject({ by: Duration });

export const ClockFacts = z
  .strictObject({
    now: z.iso.datetime(),
    frozen: z.boolean(),
    real: z.boolean().describe("True if the clock shows the machine's time"),
    next_due: z.iso.datetime().nullable().describe("When the next work is due"),
    starts: z
      .strictObject({ now: z.string().describe("A time, or real"), frozen: z.boolean() })
      .describe("The clock after a reset; a restart on a data folder continues from the stored time"),
  })
  .meta({ title: "Clock" });
export type ClockFacts = z.infer<typeof ClockFacts>;

export const ClockSet = ClockFacts.extend({ hint: z.string().nullable() }).meta({ title: "ClockSet" });

const Happened = z.looseObject({ at: z.iso.datetime(), kind: z.string() }).meta({ title: "Happened" });

export const ClockAdvanced = ClockFacts.extend({
  happened: z.array(Happened).describe("In the order it was performed"),
}).meta({ title: "ClockAdvanced" });
