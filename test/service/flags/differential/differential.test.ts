import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fc } from "../../../support/chance.ts";
import { engineOf, openSim } from "./answers.ts";
import { compareWorld, emptyTally } from "./compare.ts";
import { documentsOf } from "./documents.ts";
import { filterDifferences } from "./filter-differences.ts";
import { flagDifferences } from "./flag-differences.ts";
import { type WorldDraft, worldDraft } from "./world.ts";

/** Pairs of a flag and a subject. `FUZZ_PAIRS` asks for more, `FUZZ_SEED` for others. */
const pairs = Number(process.env.FUZZ_PAIRS ?? 20_000);
const seed = Number(process.env.FUZZ_SEED ?? 20_260_401);
const patience = 180_000 + pairs * 5;
/** Each slice has a seed of its own: a failure is found again without what came before it. */
const worldsInSlice = 20;

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  // posthog-node reads dates without an offset in the process's zone.
  vi.stubEnv("TZ", "UTC");
  // It warns of every flag that it cannot evaluate.
  vi.spyOn(console, "warn").mockReturnValue();
});

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const tally = emptyTally();

const stranger = "nobody";

/** The sim has stored no one: to it they are in no static cohort. Everything else has to be the same. */
async function compareService(draft: WorldDraft): Promise<void> {
  vi.setSystemTime(new Date(draft.now));
  const { scenario } = documentsOf(draft);
  const engine = await engineOf(scenario, Date.parse(draft.now));
  await using sim = await openSim(scenario);
  for (const who of draft.subjects) {
    expect(await sim.service.ask(who)).toEqual(await engine.ask({ ...who, personId: stranger }));
  }
}

async function compare(draft: WorldDraft): Promise<void> {
  vi.setSystemTime(new Date(draft.now));
  const documents = documentsOf(draft);
  const engine = await engineOf(documents.scenario, Date.parse(draft.now));
  await using sim = await openSim(documents.scenario);
  await compareWorld(draft, documents, { engine, client: sim.client }, tally);
  expect(sim.errors).toEqual([]);
}

/** How often each difference explained a pair, for the log of a long run. */
function report(): string {
  const rows = [...tally.explained].sort(([, a], [, b]) => b.pairs - a.pairs);
  const lines = rows.map(([name, it]) => `${String(it.pairs).padStart(8)}  ${name} (alone ${it.alone})`);
  return [`${tally.agreed} of ${tally.pairs} pairs agree; the others:`, ...lines].join("\n");
}

test("the sim's /flags says what the engine says", async () => {
  await fc.assert(fc.asyncProperty(worldDraft, compareService), { seed, numRuns: 40 });
});

describe("the engine and posthog-node's local evaluation", () => {
  test(
    `say the same of ${pairs.toLocaleString("en-US")} flags and subjects, but for the named differences`,
    async () => {
      for (let slice = 0; tally.pairs < pairs; slice++) {
        await fc.assert(fc.asyncProperty(worldDraft, compare), { seed: seed + slice, numRuns: worldsInSlice });
      }
      if (process.env.FUZZ_PAIRS !== undefined) console.log(report());
    },
    patience,
  );

  test("mostly need no excuse", () => {
    expect(tally.agreed / tally.pairs).toBeGreaterThan(0.65);
  });

  // In a long run each must be the only explanation of something: else another one covers it.
  const use = pairs < 200_000 ? "pairs" : "alone";
  test.each([...filterDifferences, ...flagDifferences])("$name: is still a difference", ({ name }) => {
    expect(tally.explained.get(name)?.[use] ?? 0).toBeGreaterThan(0);
  });
});
