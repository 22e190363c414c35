import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { counted } from "../../kernel/base/text.ts";
import { writeWhole } from "../../kernel/base/whole-file.ts";
import { type Address, callSim } from "../../kernel/command/ask-sim.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { CommandEnd, Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { createProgress, type ProgressLine } from "../../kernel/command/progress.ts";
import { writeResult } from "../../kernel/command/result-file.ts";
import { findRunning } from "../../kernel/command/running-sim.ts";
import { untilSignal } from "../../kernel/command/signals.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";
import { batchesOf } from "../../lab/generate/batches.ts";
import type { TrafficFigures } from "../../lab/generate/figures.ts";
import type { EventGenerator, GenerationPlan } from "../../lab/generate/generate.ts";
import { type GenerationSetting, planOf } from "../../lab/generate/plan.ts";
import type { AuthoredTraffic } from "../../lab/generate/shapes.ts";
import { readPersona } from "../../lab/scenario/persona-file.ts";
import {
  checkedTraffic,
  checkTimeZone,
  type GenerationTarget,
  generatorFor,
  targetOf,
} from "../../sim/client/generate.ts";
import type { GenerateValues } from "./options.ts";

type Values = GenerateValues["values"];

/** @throws TypeError for mistakes in the options or the persona file */
async function describedBy({ persona = "shopper", users, days, until, seed }: Values): Promise<AuthoredTraffic> {
  const isName = /^[\w-]+$/.test(persona);
  const described = {
    persona: isName ? persona : await readPersona(persona),
    ...(users !== undefined && { users }),
    ...(days !== undefined && { days }),
    ...(until !== undefined && { until }),
    ...(seed !== undefined && { seed }),
  };
  return checkedTraffic(described, (option) => `--${option}`);
}

/** Generates traffic into a file or a running sim. @throws Failure; TypeError for mistakes in the options */
export async function runGenerate(settings: GenerateValues, shell: Shell): Promise<CommandEnd> {
  const { values, origins } = settings;
  const described = await describedBy(values);
  if (values.out !== undefined) {
    if (origins.project.source === "flag")
      throw new TypeError("--project has no effect with --out: the file is of no project");
    return toFile(values.out, described, values, shell);
  }
  if (values["time-zone"] !== undefined)
    throw new TypeError("--time-zone is for --out: in a sim, the time zone is that of the project");
  const sim = await findRunning(settings, shell);
  const target = await targetOf((method, path) => callSim(sim, method, path), values.project);
  if (!target) throw new TypeError(`--project: there is no project ${values.project ?? ""}`.trim());
  const plan = planOf(described, target);
  return toSim(sim, target, await generatorFor(plan, target.now), values, shell);
}

interface Work {
  readonly stop: AbortSignal;
  readonly progress: ProgressLine;
}

/** Runs until it is done or a signal comes. @param work Returns false if it was ended */
async function untilDone(shell: Shell, work: (it: Work) => Promise<void>): Promise<CommandEnd> {
  const stop = new AbortController();
  let ending: CommandEnd = "ok";
  void untilSignal(process, shell.quit).then((signal) => {
    ending = signal;
    stop.abort();
  });
  const progress = createProgress(process.stderr, shell.env);
  try {
    await work({ stop: stop.signal, progress });
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    progress.end();
  }
  return ending;
}

const number = (value: number): string => value.toLocaleString("en-US");

/** Lines of a file that are written at once. */
const linesPerPart = 500;

async function toFile(out: string, described: AuthoredTraffic, values: Values, shell: Shell): Promise<CommandEnd> {
  const timeZone = values["time-zone"] ?? "UTC";
  checkTimeZone(timeZone);
  const setting: GenerationSetting = { now: Date.now(), timeZone, weekStart: 0 };
  const traffic = await generatorFor(planOf(described, setting));
  const ending = await untilDone(shell, async ({ stop, progress }) => {
    async function* lines(): AsyncGenerator<string> {
      let [part, count] = ["", 0];
      for (const event of traffic) {
        part += `${JSON.stringify(event)}\n`;
        if (++count % linesPerPart !== 0) continue;
        yield part;
        part = "";
        stop.throwIfAborted();
        progress.show(`generate: ${number(count)} events, up to ${event.timestamp.slice(0, 10)}`);
      }
      if (part !== "") yield part;
    }
    try {
      await writeWhole(out, lines(), 0o666);
    } catch (error) {
      if (stop.aborted) throw error;
      throw new Failure("failed", `${clean(out)} cannot be written: ${reasonOf(error)}`, error);
    }
  });
  return ending === "ok" ? report(traffic, clean(out), values, shell) : ending;
}

const compress = promisify(gzip);

/** Longest time of one request, ms. */
const requestMs = 60_000;

/** @throws Failure */
async function post(sim: Address, body: string): Promise<void> {
  const init: RequestInit = {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip", "user-agent": "phx-sim generate" },
    body: await compress(body),
    signal: AbortSignal.timeout(requestMs),
    redirect: "error",
  };
  const answer = await fetch(`${sim.url}/batch/`, init).catch((error: unknown) => {
    throw new Failure("no_sim", `${clean(sim.url)} does not answer any more`, error);
  });
  const text = await answer.text();
  if (answer.status !== 200)
    throw new Failure("failed", `the sim answered /batch/ with ${answer.status}: ${clean(text, 200)}`);
}

const droppedIn = async (sim: Address): Promise<number> =>
  (await callSim<{ counts: { dropped: number } }>(sim, "GET", "info")).counts.dropped;

async function toSim(
  sim: Address,
  target: GenerationTarget,
  traffic: EventGenerator,
  values: Values,
  shell: Shell,
): Promise<CommandEnd> {
  const before = await droppedIn(sim);
  const ending = await untilDone(shell, async ({ stop, progress }) => {
    let sent = 0;
    for (const { body, count } of batchesOf(traffic, target.apiKey)) {
      await post(sim, body);
      stop.throwIfAborted();
      sent += count;
      progress.show(`generate: ${number(sent)} events captured`);
    }
  });
  if (ending !== "ok") return ending;
  const dropped = (await droppedIn(sim)) - before;
  if (dropped > 0)
    shell.err.say(`${counted(dropped, "event")} dropped, as after the same command before: the sim has them already`);
  return report(traffic, `project ${target.id} ${clean(JSON.stringify(target.name))}`, values, shell);
}

/** Writes and prints the figures. @throws Failure */
async function report(traffic: EventGenerator, where: string, values: Values, shell: Shell): Promise<CommandEnd> {
  const figures = traffic.figures();
  if (values.figures !== undefined)
    await writeResult(values.figures, `${JSON.stringify(figures, null, 2)}\n`, "the file of figures");
  shell.out.say(...(values.json ? [JSON.stringify(figures)] : linesOf(figures, traffic.plan, where)));
  return "ok";
}

function linesOf(figures: TrafficFigures, plan: GenerationPlan, where: string): string[] {
  const { events, funnel, revenue, days, time_zone: zone, seed } = figures;
  const period = `${days[0]} to ${days.at(-1)} (${zone})`;
  const steps = funnel.steps.map((name, i) => `${clean(name)} ${number(funnel.counts[i] ?? 0)}`);
  return [
    `${number(events.total)} events of ${number(plan.users)} users (${plan.persona.name}, seed ${seed}), ${period}: ${where}`,
    `users in order: ${steps.join(" → ")}`,
    ...(revenue ? [`sum of ${clean(revenue.event)}.${clean(revenue.property)}: ${revenue.total.toFixed(2)}`] : []),
  ];
}
