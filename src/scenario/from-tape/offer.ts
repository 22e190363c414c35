import type { Exchange } from "../../tapes/format/exchange.ts";
import type { FromTapeOptions, TapeScenario } from "./types.ts";

/**
 * Folds the answers on a tape into an editable scenario, ids kept; see `TapeScenario`. Read the exchanges with
 * their side files in their places.
 */
export async function scenarioFromTape(
  exchanges: AsyncIterable<Exchange> | Iterable<Exchange>,
  options?: FromTapeOptions,
): Promise<TapeScenario> {
  const { foldTape } = await import("./from-tape.ts");
  return foldTape(exchanges, options);
}
