import { z } from "zod";
import { clockStartExpected, readMoment } from "../../base/time-text.ts";

const ClockTime = z
  .string()
  .refine(
    (text) => text === "real" || readMoment(text) !== undefined,
    'a time from 1970 to 9999, such as 2025-06-01T12:00:00Z, or "real"',
  );

/** How the sim's clock starts. */
export const AuthoredClock = z.union(
  [
    ClockTime,
    z.strictObject({
      now: ClockTime.optional().describe("The time at the start; by default the machine's."),
      frozen: z.boolean().optional().describe("Whether the clock stands still there; by default it runs on."),
    }),
  ],
  clockStartExpected,
);
