import { counted } from "../../base/counted.ts";
import { clean } from "../../cli/clean-text.ts";
import type { Shell } from "../../cli/command.ts";
import { Failure } from "../../cli/failure.ts";
import { type Sim, type SimOptions, scenarioFromTape, startSim, type TapeScenario } from "../../index.ts";
import type { Exchange } from "../format/exchange.ts";
import { readHeader } from "../format/header.ts";
import { readTape } from "../format/read.ts";
import { createRedactor } from "../redact/redactor.ts";
import { bothRules, tapeRules } from "../redact/rules.ts";
import type { GivenKeys } from "../send/plan.ts";
import { failureText, mostFailures } from "../send/run.ts";
import { surveyTape } from "../send/survey.ts";
import { createTransport, leaveFor, readTarget, type Transport } from "../send/transport.ts";
import type { TapeProblem } from "../shapes.ts";
import { readUpstreams, UpstreamError, type Upstreams } from "../upstream/upstreams.ts";
import { createServiceVerifier, leftOutBy } from "../verify/against.ts";
import { type Comparison, createDifferenceTally } from "../verify/compare.ts";
import { createVerifier } from "../verify/verifier.ts";
import { isMissing, keysOf, missingText, needsOf } from "./send-request.ts";
import type { VerifySettings } from "./verify.ts";
import { problemCount } from "./verify-report.ts";

interface VerifyRun {
  /** The tape's file. */
  file: string;
  dialect: "documented" | "production" | undefined;
  /** Paths that differ without meaning, over those of the tape's header. */
  ignore?: readonly string[] | undefined;
  /** Called after each exchange. */
  onStep(done: number, total: number): void;
}

/** What came of sending a tape's requests to a fresh sim. */
interface VerifyResult extends Comparison {
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

type Values = VerifySettings["values"];

interface AgainstRun {
  /** The tape's file. */
  file: string;
  /** `us`, `eu`, or an address. */
  service: string;
  values: Values;
  /** Called after each exchange. */
  onStep(done: number, total: number): void;
}

/** What came of sending a tape's requests to a service. */
interface AgainstResult extends Comparison {
  against: string;
  /** Requests that were left out because they change something, by route. */
  writes: Readonly<Record<string, number>>;
  /** Why the run fails though it compared what it could: requests without an answer. */
  failure: Failure | undefined;
}

/** @throws Failure usage */
function upstreamsFor(service: string): Upstreams {
  try {
    return readUpstreams(/^(us|eu)$/i.test(service) ? service : readTarget(service).url.href);
  } catch (error) {
    if (!(error instanceof UpstreamError || error instanceof TypeError)) throw error;
    throw new Failure("usage", `--against: ${clean(error.message, 300)}; give us, eu, or an address`, error);
  }
}

/** Reads may go anywhere; writes only where `send` may send. @throws Failure usage */
function checkWrites({ origins }: Upstreams, values: Values): void {
  if (!values["allow-writes"]) return;
  const permits = {
    yes: true,
    production: values["i-know-this-is-production"],
    hosts: values["allow-host"],
  };
  for (const origin of origins) {
    const leave = leaveFor(readTarget(origin), permits);
    if (leave.may === "refused") throw new Failure("usage", clean(`--allow-writes: ${leave.why}`, 600));
  }
}

/** A key that an option gives must be there before anything is sent. @throws Failure usage */
async function checkKeys(sent: AsyncIterable<Exchange>, keys: GivenKeys): Promise<void> {
  const missing = needsOf(await surveyTape(sent), keys).filter(isMissing);
  if (missing.length > 0) throw new Failure("usage", missingText(missing));
}

/** One connection to each origin of a service. */
function createConnections() {
  const transports = new Map<string, Transport>();
  return {
    to(base: URL): Transport {
      const transport = transports.get(base.origin) ?? createTransport(base, 1);
      transports.set(base.origin, transport);
      return transport;
    },
    close(): void {
      for (const it of transports.values()) it.close();
    },
  };
}

/**
 * Sends the requests of a tape to a service, one after the other, and compares its answers with the recorded ones.
 * @throws Failure usage when a key is missing or a permission; network when the service cannot be reached
 * @throws TapeError when the file is no tape
 */
export async function runAgainst(run: AgainstRun, shell: Shell): Promise<AgainstResult> {
  const { file, service, values, onStep } = run;
  const upstreams = upstreamsFor(service);
  checkWrites(upstreams, values);
  const { noise: known, redaction, rules } = await readHeader(file);
  const own = shell.config?.redaction;
  const noise = [...known, ...(own?.ignore ?? [])];
  const keys = keysOf(values, shell.env);
  const allowWrites = values["allow-writes"];
  const { found, add } = problemCount<TapeProblem>();
  let exchanges = 0;
  async function* sent(): AsyncGenerator<Exchange> {
    for await (const exchange of readTape(file, { bodies: "whole", onProblem: add })) {
      exchanges++;
      if (leftOutBy(exchange, keys, allowWrites) === undefined) yield exchange;
    }
  }
  await checkKeys(sent(), keys);
  const connections = createConnections();
  const verifier = createServiceVerifier({
    baseOf: (path) => upstreams.baseOf(path),
    send: (prepared, base) => connections.to(base).send(prepared, true),
    keys,
    allowWrites,
    redactor: createRedactor({
      profile: redaction === "pii" ? "pii" : "default",
      rules: bothRules(rules, tapeRules(own)),
    }),
    noise,
  });
  const tally = createDifferenceTally();
  const skipped: Comparison["skipped"] = {};
  const writes = new Map<string, number>();
  const failures = createFailures(upstreams.name);
  let compared = 0;
  let done = 0;
  try {
    for await (const exchange of readTape(file, { bodies: "whole" })) {
      const result = await verifier.verify(exchange).catch((error: unknown) => {
        failures.add(error, compared);
        return { skipped: "no_answer" as const };
      });
      if ("skipped" in result) {
        skipped[result.skipped] = (skipped[result.skipped] ?? 0) + 1;
        if (result.skipped === "writes") writes.set(exchange.route, (writes.get(exchange.route) ?? 0) + 1);
        if (failures.isGone()) break;
      } else {
        failures.clear();
        compared++;
        tally.add(result.compared);
      }
      onStep(++done, exchanges);
    }
  } finally {
    connections.close();
  }
  return {
    exchanges,
    compared,
    against: upstreams.name,
    writes: Object.fromEntries(writes),
    skipped,
    groups: tally.groups(),
    routes: tally.routes(),
    left: tally.left(),
    ...found,
    failure: failures.ending(),
  };
}

/** Counts requests without an answer. */
function createFailures(service: string) {
  let [count, inRow, last] = [0, 0, ""];
  const failure = (text: string) => new Failure("network", clean(`${text}: ${last}`, 600));
  const isGone = (): boolean => inRow >= mostFailures;
  return {
    /** @throws Failure when the first request gets no answer: no other one would */
    add(error: unknown, compared: number): void {
      count++;
      inRow++;
      last = failureText(error);
      if (compared === 0) throw failure(`${service} cannot be reached`);
    },
    clear(): void {
      inRow = 0;
    },
    isGone,
    ending(): Failure | undefined {
      if (count === 0) return undefined;
      if (isGone()) return failure(`${service} does not answer any more`);
      return failure(`${counted(count, "request")} got no answer from ${service}`);
    },
  };
}
