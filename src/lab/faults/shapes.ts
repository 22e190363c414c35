import { z } from "zod";
import { readDuration } from "../../kernel/base/time-text.ts";
import { routeProblem } from "./routes.ts";

// Messages complete the words "expected …".

/** Names of presets; presets.ts defines them. */
export const presetNames = [
  "flags-partial",
  "flags-down",
  "flags-slow",
  "capture-503",
  "rate-limited",
  "quota-exhausted",
  "events-dropped",
  "events-invalid",
  "events-retried",
  "connection-reset",
  "garbage-json",
] as const;
export type PresetName = (typeof presetNames)[number];

const quotas = ["events", "recordings", "feature_flags"] as const;
export type Quota = (typeof quotas)[number];

const ScriptedResult = z.strictObject({
  result: z.enum(["drop", "retry"]).describe("What the SDK reads of each event"),
  details: z.string().min(1).max(200).describe("Such as billing_limit_exceeded"),
});
export type ScriptedResult = z.infer<typeof ScriptedResult>;

/** The longest wait, and the longest time that a rule lasts, in ms. */
const longest = { wait: 600_000, rule: 365 * 86_400_000 };

function duration(least: number, most: number, phrase: string) {
  const isInRange = (ms: number | undefined) => ms !== undefined && ms >= least && ms <= most;
  return z.union(
    [
      z.number().refine((value) => Number.isInteger(value) && isInRange(value), phrase),
      z.string().refine((text) => isInRange(readDuration(text)), phrase),
    ],
    phrase,
  );
}

const Wait = duration(0, longest.wait, "ms up to 600000, or a string such as 800ms or 2s");
const Duration = duration(1, longest.rule, "ms, or a string such as 30s or 5m");

export const HeaderName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, "the name of a header");
export const HeaderValue = z.string().regex(/^[\t\x20-\x7e]*$/, "printable ASCII");

export const Route = z
  .string()
  .superRefine((route, context) => {
    const message = routeProblem(route);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .describe("capture, flags, service, sdk, management, or a path: :name or * for a segment, * at the end for the rest");

export const Method = z
  .string()
  .regex(/^[A-Z]+$/, "a method in capitals")
  .describe("HTTP method (default: all except OPTIONS)");

/** Effects other than a latency; a fault has one of them at most. */
const kinds = ["status", "socket", "body", "flags", "quota", "results"] as const;

/** Keys that require another one. */
const needs: readonly (readonly [key: "headers" | "jitter" | "after", other: "status" | "latency" | "socket"])[] = [
  ["headers", "status"],
  ["jitter", "latency"],
  ["after", "socket"],
];

const damages: readonly unknown[] = ["truncate", "garbage"];

const EffectKeys = z.strictObject({
  status: z.int().min(200).max(599).optional().describe("Responds with this status; no event is kept"),
  body: z
    .json()
    .optional()
    .describe(
      "With a status: the body, a string or JSON (default: the service's own). Without: truncate or garbage, applied to the response",
    ),
  headers: z.record(HeaderName, HeaderValue).optional().describe("Headers of the response with a status"),
  latency: Wait.optional().describe("Waits first: ms, or a string such as 2s"),
  jitter: Wait.optional().describe("The wait varies by up to this much"),
  socket: z
    .enum(["reset", "hang"])
    .optional()
    .describe("No response: the connection is reset, or stays silent until the client gives up"),
  after: z.boolean().optional().describe("The request is handled, and only its response is lost"),
  flags: z
    .union([z.literal("partial"), z.array(z.string().min(1)).min(1)], `"partial" or a list of flag keys`)
    .optional()
    .describe("Flags that cannot be computed: every second one (partial), or these"),
  quota: z.array(z.enum(quotas)).min(1).optional().describe("What the project has used up"),
  results: ScriptedResult.optional().describe(
    "The result of each event in answers of capture v1, which have status 200; no event is kept",
  ),
});

function kindsIn(effect: z.infer<typeof EffectKeys>): readonly (typeof kinds)[number][] {
  const given = kinds.filter((kind) => effect[kind] !== undefined);
  return given.includes("status") ? given.filter((kind) => kind !== "body") : given;
}

/** What happens to a request: a latency, one of the other kinds, or both. */
const AuthoredEffect = EffectKeys.superRefine((effect, context) => {
  const problem = (message: string, path: string[] = []) => context.addIssue({ code: "custom", message, path });
  const given = kindsIn(effect);
  if (given.length > 1) problem(`only one of ${given.join(", ")}`);
  if (given.length === 0 && effect.latency === undefined) {
    problem(`latency, ${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)} in it`);
  }
  if (given.includes("body") && !damages.includes(effect.body)) {
    problem('"truncate" or "garbage" (or a status with it)', ["body"]);
  }
  for (const [key, other] of needs) {
    if (effect[key] !== undefined && effect[other] === undefined) problem(`${other} with it`, [key]);
  }
});

/** Absent keys match everything. */
export const FaultMatch = z.strictObject({
  route: Route.optional(),
  method: Method.optional(),
  project: z.int().min(1).optional().describe("Only requests of the project with this number"),
});
export type FaultMatch = z.infer<typeof FaultMatch>;

/** A fault to apply: a rule, or a preset with changes. */
export const FaultOrder = z
  .strictObject({
    preset: z.enum(presetNames).optional().describe("Name of a preset"),
    name: z.string().min(1).max(100).optional().describe("Name of the fault (default: the preset's)"),
    match: FaultMatch.optional().describe("Which requests; replaces the preset's keys"),
    effect: AuthoredEffect.optional().describe("What happens to them; replaces the preset's"),
    rate: z.number().gt(0).max(1).optional().describe("Share of the matching requests that are affected (default: 1)"),
    seed: z.int().optional().describe("Decides which requests a rate and a jitter affect (default: 1)"),
    times: z.int().min(1).optional().describe("Ends after this many requests"),
    duration: Duration.optional().describe("Ends after this time of the sim's clock: ms, or a string such as 30s"),
  })
  .superRefine((order, context) => {
    if (order.preset === undefined && order.effect === undefined)
      context.addIssue({ code: "custom", message: "a preset or an effect in it" });
  })
  .meta({ title: "FaultOrder" });
export type FaultOrder = z.infer<typeof FaultOrder>;

/** Faults of a scenario: names of presets, rules, or presets with changes. */
export const FaultUses = z.array(
  z.union([z.enum(presetNames), FaultOrder], "the name of a preset, or an object with a preset or an effect"),
);
export type FaultUse = PresetName | FaultOrder;

const ms = z.int().min(0);

const FaultEffect = EffectKeys.extend({ latency: ms.optional(), jitter: ms.optional() }).describe(
  "What happens to them; times in ms",
);
export type FaultEffect = z.infer<typeof FaultEffect>;

export const Fault = z
  .strictObject({
    id: z.string(),
    name: z.string().describe("Its own, the preset's, or the id"),
    preset: z.enum(presetNames).nullable(),
    match: FaultMatch.describe("Which requests"),
    effect: FaultEffect,
    rate: z.number(),
    seed: z.int(),
    times: z.int().nullable(),
    duration: z.int().nullable().describe("ms of the sim's clock, from `since` on"),
    state: z.enum(["active", "used_up", "expired"]),
    used: z.int().describe("Requests affected so far"),
    since: z.iso.datetime(),
    text: z.string().describe("The rule in words"),
  })
  .meta({ title: "Fault" });
export type Fault = z.infer<typeof Fault>;

export const FaultPreset = z
  .strictObject({
    name: z.enum(presetNames),
    describe: z.string(),
    match: FaultMatch.describe("Which requests"),
    effect: FaultEffect,
  })
  .meta({ title: "FaultPreset" });
export type FaultPreset = z.infer<typeof FaultPreset>;
