import { z } from "zod";
import { SimError } from "../../../src/kernel/base/errors.ts";
import type { QueryKind } from "../../../src/service/query/kind.ts";

const CountQuery = z.strictObject({
  kind: z.literal("CountQuery"),
  event: z.string(),
  interval: z.enum(["minute", "day"]).optional(),
  /** Only ends when it is cancelled. */
  waits: z.boolean().optional(),
  /** Fails with this message. */
  fails: z.string().optional(),
});
type CountQuery = z.infer<typeof CountQuery>;

/** A kind that is small enough to see the runner behind it: counts the events of a name. */
export const countKind: QueryKind<CountQuery> = {
  kind: "CountQuery",
  shape: CountQuery,
  run({ event, fails }, { table, timeZone, weekStart }) {
    if (fails !== undefined) throw new SimError("invalid_input", fails);
    const count = Array.from({ length: table.length }, (_, row) => table.name(row)).filter((it) => it === event).length;
    return { results: [count], hasMore: false, columns: [event, timeZone, weekStart] };
  },
};
