import type { JsonObject } from "../../base/json.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import type { Scenario } from "../schema.ts";
import { createAnsweredFlags } from "./answered-flags.ts";
import { authorScenario } from "./author.ts";
import { definitionSightings, groupTypesIn } from "./definitions.ts";
import { createFold } from "./fold.ts";
import { createKeyRing } from "./keys.ts";
import { mendScenario } from "./mend.ts";
import { createNotes, printWithNotes } from "./notes.ts";
import { sightingsIn } from "./sightings.ts";
import type { FromTapeOptions, TapeScenario } from "./types.ts";

/**
 * Folds the answers on a tape into a scenario: organizations, projects, dashboards with tiles, insights, flags,
 * cohorts, persons, batch exports, ids kept. The scenario passes `scenario check`; what cannot be taken over is
 * told. Memory is bounded by the number of documents, not by the tape.
 */
export async function foldTape(
  exchanges: AsyncIterable<Exchange> | Iterable<Exchange>,
  options: FromTapeOptions = {},
): Promise<TapeScenario> {
  const collected = {
    fold: createFold(options),
    ring: createKeyRing(),
    answered: createAnsweredFlags(),
    groupTypes: new Map<string, readonly string[]>(),
  };
  let count = 0;
  let firstAt: string | undefined;
  for await (const exchange of exchanges) {
    count++;
    firstAt ??= exchange.at;
    collect(exchange, collected);
  }
  const { scenario, keys, notes } = authorScenario(collected, createNotes());
  const leftOut = await mendScenario(scenario);
  if (collected.fold.left() > 0) leftOut.push(`${collected.fold.left()} documents: there are too many`);
  return {
    scenario: scenario as Scenario,
    text: headerComment(options.source, count) + printWithNotes(scenario, notes),
    keys,
    counts: countsOf(scenario),
    leftOut,
    exchanges: count,
    firstAt,
  };
}

interface Collecting {
  fold: ReturnType<typeof createFold>;
  ring: ReturnType<typeof createKeyRing>;
  answered: ReturnType<typeof createAnsweredFlags>;
  groupTypes: Map<string, readonly string[]>;
}

function collect(exchange: Exchange, { fold, ring, answered, groupTypes }: Collecting): void {
  ring.see(exchange);
  answered.see(exchange);
  for (const it of [...sightingsIn(exchange), ...definitionSightings(exchange)]) fold.see(it);
  const groups = groupTypesIn(exchange);
  if (groups) groupTypes.set(groups.project, groups.types);
}

/** Names of files may hold anything; a comment ends with its line. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ").slice(0, 200);

const headerComment = (source: string | undefined, count: number): string =>
  [
    `// A world for phx-sim, folded out of ${count} recorded exchanges${source === undefined ? "" : ` of ${oneLine(source)}`}.`,
    "// Ids are the service's. What the tape does not say is marked \"inferred\"; keys are the sim's own.",
    "// Check it with `phx-sim scenario check`, start it with `phx-sim start --scenario`. Edit it as you like.",
    "",
  ].join("\n");

const partNames = ["dashboards", "insights", "flags", "cohorts", "persons", "batch_exports"] as const;

function countsOf(scenario: JsonObject): Record<string, number> {
  const { organizations = [], users = [] } = scenario as Partial<Scenario>;
  const projects = organizations.flatMap((it) => it.projects);
  const parts = partNames.map((name) => [
    name,
    projects.reduce((sum, project) => sum + Object.keys(project[name] ?? {}).length, 0),
  ]);
  return {
    organizations: organizations.length,
    projects: projects.length,
    users: users.length,
    ...Object.fromEntries(parts),
  };
}
