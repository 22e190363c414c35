import { refuse } from "./refuse.ts";

/** Most numbers of a result, and of a table that it is computed from. */
const most = { result: 500_000, table: 10_000_000 };

/** @throws SimError if there are more numbers than one query may have */
export function checkNumbers(of: keyof typeof most, count: number): void {
  if (count <= most[of]) return;
  throw refuse(
    `The ${of === "result" ? "result" : "table of the query"} has more than ${most[of].toLocaleString("en-US")} numbers: use a longer interval, a shorter date range, fewer series or a breakdown with fewer values.`,
  );
}
