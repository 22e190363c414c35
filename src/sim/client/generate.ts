import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, parsedJson } from "../../kernel/base/json.ts";
import { didYouMean } from "../../kernel/base/nearest.ts";
import { isTimeZone } from "../../kernel/base/time-text.ts";
import type { ControlCall, Send } from "../../kernel/call/call.ts";
import { ControlError } from "../../kernel/call/errors.ts";
import type { TrafficFigures } from "../../lab/generate/figures.ts";
import type { EventGenerator, GeneratedEvent, GenerationPlan } from "../../lab/generate/generate.ts";
import type { GenerationSetting } from "../../lab/generate/plan.ts";
import type { AuthoredTraffic, Persona, PersonaName } from "../../lab/generate/shapes.ts";
import type { WorldSummary } from "../../service/management/world-shapes.ts";

/** Traffic to generate. */
export interface TrafficOptions {
  /** A built-in persona or one of your own. Default: `shopper`. */
  persona?: PersonaName | Persona;
  users?: number;
  /** Number of calendar days, the last one included. Default: 90. */
  days?: number;
  /** The end, in ISO 8601. Default: the last full minute of the clock. */
  until?: string;
  /** Another seed, another traffic. Default: 1. */
  seed?: number;
}

export interface FreeTrafficOptions extends TrafficOptions {
  /** IANA name of the time zone of days, weeks and hours. Default: UTC. */
  timeZone?: string;
  /** First day of a week: 0 Sunday (default), 1 Monday. */
  weekStart?: 0 | 1;
}

export interface SimTrafficOptions extends TrafficOptions {
  /** Id of the project that captures it. Default: the first one. */
  project?: number;
}

/** Generated events in order of time, which can be read once; then the figures are complete. */
export interface GeneratedTraffic extends Iterable<GeneratedEvent> {
  /** The true figures of the events that were read so far. */
  figures(): TrafficFigures;
}

/** A persona's name may be any text. @throws TypeError with a line for each mistake; `named` names an option in it */
export async function checkedTraffic(
  { persona, ...options }: Omit<TrafficOptions, "persona"> & { persona?: string | Persona },
  named: (option: string) => string = (it) => it,
): Promise<AuthoredTraffic> {
  const [{ parseShape }, { AuthoredTraffic, personaNames }, { readPersona }] = await Promise.all([
    import("../../kernel/http/shape-errors.ts"),
    import("../../lab/generate/shapes.ts"),
    import("../../lab/scenario/persona-file.ts"),
  ]);
  const isKnown = (name: string) => personaNames.some((it) => it === name);
  if (typeof persona === "string" && !isKnown(persona)) {
    const meant = didYouMean(persona, personaNames) || `; personas are ${personaNames.join(", ")}`;
    throw new TypeError(`${named("persona")}: there is no persona ${JSON.stringify(persona)}${meant}`);
  }
  const isOwn = isObject(persona);
  const given: Json = JSON.parse(JSON.stringify(isOwn ? options : { persona, ...options }));
  try {
    const checked = parseShape(AuthoredTraffic, given, ([option]) => named(String(option)));
    return isOwn ? { ...checked, persona: await readPersona(persona) } : checked;
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    const { pointer, hint } = error.extra;
    throw new TypeError(`${pointer}: ${error.message}${hint === undefined ? "" : `; ${hint}`}`);
  }
}

/** The traffic of a plan. @param now The time up to which events are accepted, if there is a limit @throws TypeError */
export async function generatorFor(plan: GenerationPlan, now?: number): Promise<EventGenerator> {
  const { EventGenerator, unusablePlan } = await import("../../lab/generate/generate.ts");
  const reason = unusablePlan(plan, now);
  if (reason !== undefined) throw new TypeError(reason);
  return new EventGenerator(plan);
}

/** @throws TypeError for a time zone that does not exist */
export function checkTimeZone(timeZone: string): void {
  if (!isTimeZone(timeZone))
    throw new TypeError(`the time zone ${JSON.stringify(timeZone)} does not exist; use a name such as Europe/Berlin`);
}

/**
 * Generates events without a sim: `for (const event of await generateTraffic({ users: 100 }))`. The same options give
 * the same events.
 * @throws TypeError for mistakes in the options or the persona
 */
export async function generateTraffic(options: FreeTrafficOptions = {}): Promise<GeneratedTraffic> {
  const { timeZone = "UTC", weekStart = 0, ...described } = options;
  checkTimeZone(timeZone);
  const { planOf } = await import("../../lab/generate/plan.ts");
  const setting: GenerationSetting = { now: Date.now(), timeZone, weekStart };
  return generatorFor(planOf(await checkedTraffic(described), setting));
}

export interface GenerationTarget extends GenerationSetting {
  readonly id: number;
  readonly name: string;
  readonly apiKey: string;
}

/** The project with this id, or the first one; undefined if it does not exist. */
export async function targetOf(call: ControlCall, project: number | undefined): Promise<GenerationTarget | undefined> {
  const [{ organizations }, clock] = await Promise.all([
    call<WorldSummary>("GET", "world"),
    call<{ now: string }>("GET", "clock"),
  ]);
  const projects = organizations.flatMap((it) => it.projects).sort((a, b) => a.id - b.id);
  const found = project === undefined ? projects[0] : projects.find(({ id }) => id === project);
  return (
    found && {
      id: found.id,
      name: found.name,
      apiKey: found.api_key,
      now: Date.parse(clock.now),
      timeZone: found.timezone,
      weekStart: found.week_start_day,
    }
  );
}

/** `sim.generate`: sends the events through the capture endpoint. */
export const generateBy =
  (call: ControlCall, send: Send) =>
  async ({ project, ...options }: SimTrafficOptions = {}): Promise<TrafficFigures> => {
    const described = await checkedTraffic(options);
    const target = await targetOf(call, project);
    if (!target)
      throw new ControlError(404, { code: "not_found", detail: `there is no project ${project ?? ""}`.trim() });
    const [{ planOf }, { batchesOf }] = await Promise.all([
      import("../../lab/generate/plan.ts"),
      import("../../lab/generate/batches.ts"),
    ]);
    const traffic = await generatorFor(planOf(described, target), target.now);
    for (const { body } of batchesOf(traffic, target.apiKey)) {
      const answer = await send({ method: "POST", path: "/batch/", body });
      if (answer.status !== 200) throw refused(answer.status, answer.body);
    }
    return traffic.figures();
  };

function refused(status: number, body: string | Uint8Array): ControlError {
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  const answer = parsedJson(text);
  const detail = isObject(answer) && typeof answer.detail === "string" ? answer.detail : text.slice(0, 200);
  return new ControlError(status, { code: "capture_refused", detail: `/batch/ answered ${status}: ${detail}` });
}
