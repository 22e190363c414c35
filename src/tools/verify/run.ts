import { counted } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { scenarioFromTape, type TapeScenario } from "../../lab/scenario/from-tape/scenario-from-tape.ts";
import { checkKeys, keysOf } from "../../lab/tapes/commands/send-needs.ts";
import { problemCount } from "../../lab/tapes/commands/verify-report.ts";
import type { Exchange } from "../../lab/tapes/format/exchange.ts";
import { readHeader } from "../../lab/tapes/format/header.ts";
import { readTape } from "../../lab/tapes/format/read.ts";
import { TapeOrderError } from "../../lab/tapes/ports.ts";
import { createRedactor } from "../../lab/tapes/redact/redactor.ts";
import { bothRules, tapeRules } from "../../lab/tapes/redact/rules.ts";
import { failureText, mostFailures } from "../../lab/tapes/send/run.ts";
import { surveyTape } from "../../lab/tapes/send/survey.ts";
import { leaveFor, readTarget } from "../../lab/tapes/send/target.ts";
import type { TapeProblem } from "../../lab/tapes/shapes.ts";
import { createTransport } from "../../lab/tapes/upstream/transport.ts";
import { createAgents, readUpstreams, type Upstreams } from "../../lab/tapes/upstream/upstreams.ts";
import { type Comparison, createComparison } from "../../lab/tapes/verify/compare.ts";
import { createServiceVerifier, createSimVerifier, leftOutBy } from "../../lab/tapes/verify/verifier.ts";
import { startSim } from "../../sim/start-sim.ts";
import type { VerifySettings } from "./options.ts";

interface VerifyRun {
  file: string;
  dialect: "documented" | "production" | undefined;
  /** Paths that differ without meaning, in addition to those of the tape's header. */
  ignore?: readonly string[] | undefined;
  onStep(done: number, total: number): void;
}

interface VerifyResult extends Comparison {
  dialect: string;
  leftOut: readonly string[];
}

/** Captured events are deleted after this many bytes: a tape may be larger than the memory. */
const mostKept = 64 * 1024 * 1024;

/** Small requests have a weight, too; compressed ones are larger than they were. */
const weightOf = ({ req, res }: Exchange): number => 1024 + 4 * req.wire.bytes + (res?.wire.bytes ?? 0);

const simFor = ({ scenario, firstAt }: TapeScenario, dialect: VerifyRun["dialect"]) =>
  startSim({
    scenario,
    adoptTokens: true,
    ...(dialect && { dialect }),
    ...(!Number.isNaN(Date.parse(firstAt ?? "")) && { clock: new Date(firstAt ?? "").toISOString() }),
  });

/** Compares a fresh sim's answers with a tape, which is read twice and never kept. @throws TapeError; StartError */
export async function runVerify({ file, dialect, ignore = [], onStep }: VerifyRun): Promise<VerifyResult> {
  const { noise } = await readHeader(file);
  const { found, add } = problemCount<TapeProblem>();
  const seed = await scenarioFromTape(readTape(file, { bodies: "whole", onProblem: add }));
  const { keys, exchanges, leftOut } = seed;
  const comparison = createComparison();
  const sim = await simFor(seed, dialect);
  try {
    const verifier = createSimVerifier({ handle: sim.handle, keys, noise: [...noise, ...ignore] });
    let [done, kept] = [0, 0];
    for await (const exchange of readTape(file, { bodies: "whole" })) {
      comparison.add(await verifier.verify(exchange));
      kept += weightOf(exchange);
      if (kept > mostKept) {
        kept = 0;
        await sim.reset({ what: ["events"] });
      }
      onStep(++done, exchanges);
    }
    return { exchanges, dialect: sim.dialect, ...found, leftOut, ...comparison.result() };
  } finally {
    await sim.close();
  }
}

type Values = VerifySettings["values"];

interface AgainstRun extends Pick<VerifyRun, "file" | "onStep"> {
  service: string;
  values: Values;
}

interface AgainstResult extends Comparison {
  against: string;
  /** Requests that were left out because they change something, by route. */
  writes: Readonly<Record<string, number>>;
  /** Set if requests got no answer: the run fails although it compared what it could. */
  failure: Failure | undefined;
}

/** @throws Failure usage */
function upstreamsFor(service: string): Upstreams {
  try {
    return readUpstreams(/^(us|eu)$/i.test(service) ? service : readTarget(service).url.href);
  } catch (error) {
    if (!(error instanceof TapeOrderError || error instanceof TypeError)) throw error;
    throw new Failure("usage", `--against: ${clean(error.message, 300)}; give us, eu, or an address`, error);
  }
}

/** Reads may go anywhere; writes only where `send` may send. @throws Failure usage */
function checkWrites({ origins }: Upstreams, values: Values): void {
  if (!values["allow-writes"]) return;
  const permits = { yes: true, production: values["i-know-this-is-production"], hosts: values["allow-host"] };
  for (const origin of origins) {
    const leave = leaveFor(readTarget(origin), permits);
    if (leave.may === "refused") throw new Failure("usage", clean(`--allow-writes: ${leave.why}`, 600));
  }
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
  checkKeys(await surveyTape(sent()), keys);
  const transport = createTransport(createAgents(undefined, 1));
  const verifier = createServiceVerifier({
    baseOf: (path) => upstreams.baseOf(path),
    send: (prepared, base) => transport.send(base, prepared),
    keys,
    allowWrites,
    redactor: createRedactor({
      profile: redaction === "pii" ? "pii" : "default",
      rules: bothRules(rules, tapeRules(own)),
    }),
    noise: [...known, ...(own?.ignore ?? [])],
  });
  const comparison = createComparison();
  const writes = new Map<string, number>();
  const failures = createFailures(upstreams.name);
  let done = 0;
  try {
    for await (const exchange of readTape(file, { bodies: "whole" })) {
      const result = await verifier.verify(exchange).catch((error: unknown) => {
        failures.add(error);
        return { skipped: "no_answer" as const };
      });
      comparison.add(result);
      if ("compared" in result) failures.clear();
      else if (result.skipped === "writes") writes.set(exchange.route, (writes.get(exchange.route) ?? 0) + 1);
      if (failures.isGone()) break;
      onStep(++done, exchanges);
    }
  } finally {
    transport.close();
  }
  return {
    exchanges,
    against: upstreams.name,
    writes: Object.fromEntries(writes),
    ...comparison.result(),
    ...found,
    failure: failures.ending(),
  };
}

function createFailures(service: string) {
  let [count, inRow, last, hasAnswered] = [0, 0, "", false];
  const failure = (text: string) => new Failure("network", clean(`${text}: ${last}`, 600));
  const isGone = (): boolean => inRow >= mostFailures;
  return {
    /** @throws Failure if no request got an answer yet: no other one would */
    add(error: unknown): void {
      count++;
      inRow++;
      last = failureText(error);
      if (!hasAnswered) throw failure(`${service} cannot be reached`);
    },
    clear(): void {
      inRow = 0;
      hasAnswered = true;
    },
    isGone,
    ending(): Failure | undefined {
      if (count === 0) return undefined;
      if (isGone()) return failure(`${service} does not respond any more`);
      return failure(`${counted(count, "request")} got no response from ${service}`);
    },
  };
}
