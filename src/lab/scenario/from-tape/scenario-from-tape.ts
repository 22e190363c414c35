import type { Exchange } from "../../tapes/format/exchange.ts";
import type { FromTapeOptions, TapeScenario } from "./tape-scenario.ts";

/**
 * Makes an editable scenario from the answers on a tape, ids kept; see `TapeScenario`. The exchanges must have their
 * bodies, including those in side files.
 */
export async function scenarioFromTape(
  exchanges: AsyncIterable<Exchange> | Iterable<Exchange>,
  options?: FromTapeOptions,
): Promise<TapeScenario> {
  const { foldTape } = await import("./fold-tape.ts");
  return foldTape(exchanges, options);
}
