import type { Side } from "./answers.ts";
import type { Documents, FlagFacts } from "./documents.ts";
import { type BothAnswers, explainFlag, isSame, pairOf } from "./explain-mismatch.ts";
import type { Who } from "./subjects.ts";
import type { WorldDraft } from "./world.ts";

/** How often the sides agreed, and why they did not. */
export interface Tally {
  pairs: number;
  /** The same value and the same payload on both sides. */
  agreed: number;
  /** By the name of a difference: pairs in which it plays a part, and those that nothing else explains. */
  readonly explained: Map<string, { pairs: number; alone: number }>;
}

export const emptyTally = (): Tally => ({ pairs: 0, agreed: 0, explained: new Map() });

function count({ explained }: Tally, names: ReadonlySet<string>): void {
  for (const name of names) {
    const { pairs, alone } = explained.get(name) ?? { pairs: 0, alone: 0 };
    explained.set(name, { pairs: pairs + 1, alone: alone + (names.size === 1 ? 1 : 0) });
  }
}

/** The two that are compared. */
interface Sides {
  readonly engine: Side;
  readonly client: Side;
}

const askBoth = async ({ engine, client }: Sides, who: Who, keys: readonly string[]): Promise<BothAnswers> => ({
  ours: await engine.ask(who, keys),
  theirs: await client.ask(who, keys),
});

const probeKeys = (flags: readonly FlagFacts[]): string[] => [
  ...new Set(flags.flatMap(({ probes }) => probes.map(({ flagKey }) => flagKey))),
];

/**
 * Compares every flag of a world for every subject and counts. Filters are asked for on their own only
 * where something differs.
 * @throws Error with the case when the sides differ and no row explains it.
 */
export async function compareWorld(draft: WorldDraft, documents: Documents, sides: Sides, tally: Tally): Promise<void> {
  const flags = new Map(documents.flags.map((flag) => [flag.key, flag]));
  for (const who of draft.subjects) {
    const answers = await askBoth(sides, who, [...flags.keys()]);
    const differing = documents.flags.filter(({ key }) => !isSame(pairOf(answers, key)));
    tally.pairs += flags.size;
    tally.agreed += flags.size - differing.length;
    if (differing.length === 0) continue;
    const probes = await askBoth(sides, who, probeKeys(documents.flags));
    for (const flag of differing) count(tally, explainFlag(flag, { draft, flags, who, answers, probes }));
  }
}
