import type { Exchange } from "../../tapes/format/exchange.ts";
import { removeInvalidParts } from "../remove-invalid-parts.ts";
import type { Scenario } from "../schema.ts";
import { authorScenario } from "./author-scenario.ts";
import { groupTypesIn, TapeDocuments } from "./documents.ts";
import { FlagAnswers } from "./flag-answers.ts";
import { createKeyRing } from "./project-keys.ts";

export interface TapeScenario {
  readonly scenario: Scenario;
  readonly keys: ReadonlyMap<string, string>;
  /** Parts that the scenario does not have, a line each. */
  readonly leftOut: readonly string[];
  readonly exchanges: number;
  /** The start of the first exchange, ISO 8601; undefined without exchanges. */
  readonly firstAt: string | undefined;
}

/**
 * Makes a scenario of what the answers on a tape show of the time before its first exchange, to send the requests
 * again: organizations, projects, dashboards with tiles, insights, flags, cohorts, persons, batch exports, ids kept.
 * It passes `scenario check`; parts that do not are removed and listed. Memory is bounded by the number of documents,
 * not by the tape. The exchanges must have their bodies.
 */
export async function scenarioFromTape(exchanges: AsyncIterable<Exchange> | Iterable<Exchange>): Promise<TapeScenario> {
  const documents = new TapeDocuments();
  const ring = createKeyRing();
  const answers = new FlagAnswers();
  const groupTypes = new Map<string, readonly string[]>();
  let count = 0;
  let firstAt: string | undefined;
  for await (const exchange of exchanges) {
    count++;
    firstAt ??= exchange.at;
    ring.see(exchange);
    answers.see(exchange);
    documents.see(exchange);
    const groups = groupTypesIn(exchange);
    if (groups) groupTypes.set(groups.project, groups.types);
  }
  const { scenario, keys } = authorScenario({ documents, ring, answers, groupTypes });
  const leftOut = (await removeInvalidParts(scenario)).map(({ place, message }) => `${place}: ${message}`);
  if (documents.dropped > 0) leftOut.push(`${documents.dropped} documents: there are too many`);
  return { scenario: scenario as Scenario, keys, leftOut, exchanges: count, firstAt };
}
