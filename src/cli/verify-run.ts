import { type Sim, type SimOptions, scenarioFromTape, startSim, type TapeScenario } from "../index.ts";
import { type Comparison, createDifferenceTally } from "../tape/differences/group.ts";
import { createVerifier } from "../tape/differences/verify.ts";
import { readHeader } from "../tape/header.ts";
import { readTape } from "../tape/read.ts";
import type { Exchange, TapeProblem } from "../tape/types.ts";
import { problemCount } from "./verify-report.ts";

export interface VerifyRun {
  /** The tape's file. */
  file: string;
  dialect: "documented" | "production" | undefined;
  /** Paths that differ without meaning, over those of the tape's header. */
  ignore?: readonly string[] | undefined;
  /** Told after each exchange. */
  onStep(done: number, total: number): void;
}

/** What came of sending a tape's requests to a fresh sim. */
export interface VerifyResult extends Comparison {
  dialect: string;
  /** What of the tape's documents the sim could not be given. */
  leftOut: readonly string[];
}

/** What was captured is let go after as many bytes: a tape may be larger than the memory. */
const mostKept = 64 * 1024 * 1024;

/**
 * Sends the requests of a tape, in order, to a fresh sim that begins with what the tape shows of the service, and
 * compares the answers. The tape is read twice and never kept.
 * @throws TapeError when the file is no tape; StartError
 */
export async function runVerify({ file, dialect, ignore = [], onStep }: VerifyRun): Promise<VerifyResult> {
  const { noise: known } = await readHeader(file);
  const noise = [...known, ...ignore];
  const { found, add } = problemCount<TapeProblem>();
  const seed = await scenarioFromTape(readTape(file, { bodies: "whole", onProblem: add }), {
    state: "start",
  });
  const sim = await startSim(optionsFor(seed, dialect));
  try {
    const { keys, exchanges, leftOut } = seed;
    const compared = await compareAll(sim, { file, keys, noise, onStep: (done) => onStep(done, exchanges) });
    return { exchanges, dialect: sim.dialect, ...found, leftOut, ...compared };
  } finally {
    await sim.close();
  }
}

const optionsFor = (seed: TapeScenario, dialect: VerifyRun["dialect"]): SimOptions => ({
  scenario: seed.scenario,
  adoptTokens: true,
  ...(dialect && { dialect }),
  ...(!Number.isNaN(Date.parse(seed.firstAt ?? "")) && {
    clock: new Date(seed.firstAt ?? "").toISOString(),
  }),
});

interface Comparing {
  file: string;
  keys: TapeScenario["keys"];
  noise: readonly string[];
  onStep(done: number): void;
}

async function compareAll(sim: Sim, { file, keys, noise, onStep }: Comparing) {
  const verifier = createVerifier({ handle: sim.handle, keys, noise });
  const tally = createDifferenceTally();
  const skipped: VerifyResult["skipped"] = {};
  let compared = 0;
  let done = 0;
  let kept = 0;
  for await (const exchange of readTape(file, { bodies: "whole" })) {
    const result = await verifier.verify(exchange);
    if ("skipped" in result) skipped[result.skipped] = (skipped[result.skipped] ?? 0) + 1;
    else {
      compared++;
      tally.add(result.compared);
    }
    kept += weightOf(exchange);
    if (kept > mostKept) {
      kept = 0;
      await sim.reset({ what: ["events"] });
    }
    onStep(++done);
  }
  return { compared, skipped, groups: tally.groups(), routes: tally.routes(), left: tally.left() };
}

/** Small requests have a weight, too; compressed ones are larger than they were. */
const weightOf = ({ req, res }: Exchange): number => 1024 + 4 * req.wire.bytes + (res?.wire.bytes ?? 0);
