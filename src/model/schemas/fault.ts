import { z } from "zod";
import { readDuration } from "../../kernel/time-text.ts";
import { presetNames, quotas } from "../fault.ts";
import { routeProblem } from "../fault-route.ts";

// Messages complete the words "expected …".

/** The longest wait, and the longest time that a rule lasts, in ms. */
const longest = { wait: 600_000, rule: 365 * 86_400_000 };

function timeUpTo(most: number, least: number, phrase: string) {
  const isInRange = (ms: number | undefined) => ms !== undefined && ms >= least && ms <= most;
  return z.union(
    [
      z.number().refine((value) => Number.isInteger(value) && isInRange(value), phrase),
      z.string().refine((text) => isInRange(readDuration(text)), phrase),
    ],
    phrase,
  );
}

const Wait = timeUpTo(longest.wait, 0, "ms up to 600000, or a text such as 800ms or 2s");
const Duration = timeUpTo(longest.rule, 1, "ms, or a text such as 30s or 5m");

export const HeaderName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, "the name of a header");
export const HeaderValue = z.string().regex(/^[\t\x20-\x7e]*$/, "printable ASCII");

/** What can happen to a request; one of them at a time. */
const kinds = ["status", "socket", "body", "flags", "quota"] as const;

/** Keys that say more about another one. */
const needs: readonly (readonly [
  key: "headers" | "jitter" | "after",
  other: "status" | "latency" | "socket",
])[] = [
  ["headers", "status"],
  ["jitter", "latency"],
  ["after", "socket"],
];

const damages: readonly unknown[] = ["truncate", "garbage"];

const EffectKeys = z.strictObject({
  status: z.int().min(200).max(599).optional().describe("Answer with this status; nothing is kept"),
  body: z
    .json()
    .optional()
    .describe(
      "With a status: its body, text or JSON; else the service's own. Without: truncate or garbage, done to the answer",
    ),
  headers: z.record(HeaderName, HeaderValue).optional().describe("Headers of the answer with a status"),
  latency: Wait.optional().describe("Wait first: ms, or a text such as 2s"),
  jitter: Wait.optional().describe("The wait is up to so much shorter or longer"),
  socket: z
    .enum(["reset", "hang"])
    .optional()
    .describe("No answer: the connection is reset, or nothing comes until the client gives up"),
  after: z.boolean().optional().describe("The request is handled, and only its answer is lost"),
  flags: z
    .union([z.literal("partial"), z.array(z.string().min(1)).min(1)], `"partial" or a list of flags' keys`)
    .optional()
    .describe("Flags that cannot be computed: every second one (partial), or these"),
  quota: z.array(z.enum(quotas)).min(1).optional().describe("What the project has used up"),
});

function kindsIn(effect: z.infer<typeof EffectKeys>): readonly (typeof kinds)[number][] {
  const given = kinds.filter((kind) => effect[kind] !== undefined);
  return given.includes("status") ? given.filter((kind) => kind !== "body") : given;
}

/** What happens to a request: a latency, one of the other kinds, or both. */
export const FaultEffect = EffectKeys.superRefine((effect, context) => {
  const problem = (message: string, path: string[] = []) =>
    context.addIssue({ code: "custom", message, path });
  const given = kindsIn(effect);
  if (given.length > 1) problem(`only one of ${given.join(", ")}`);
  if (given.length === 0 && effect.latency === undefined) {
    problem(`latency, ${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)} in it`);
  }
  if (given.includes("body") && !damages.includes(effect.body)) {
    problem('"truncate" or "garbage" (or a status beside it)', ["body"]);
  }
  for (const [key, other] of needs) {
    if (effect[key] !== undefined && effect[other] === undefined) problem(`${other} beside it`, [key]);
  }
});

export const Route = z.string().superRefine((route, context) => {
  const message = routeProblem(route);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

export const Method = z.string().regex(/^[A-Z]+$/, "a method in capitals");

/** Which requests; absent keys do not restrict. */
export const FaultMatch = z.strictObject({
  route: Route.optional().describe(
    "capture, flags, service, sdk, management, or a path: :name or * for a segment, * at the end for the rest",
  ),
  method: Method.optional().describe("Only this method; otherwise all but OPTIONS"),
  project: z.int().min(1).optional().describe("Only requests of the project with this number"),
});

/** A rule, or a preset with what is to differ from it. */
export const FaultOrder = z
  .strictObject({
    preset: z.enum(presetNames).optional().describe("A state of the service by its name"),
    name: z.string().min(1).max(100).optional().describe("How it is called; otherwise as its preset"),
    match: FaultMatch.optional().describe("Which requests; keys replace the preset's"),
    effect: FaultEffect.optional().describe("What happens to them; replaces the preset's"),
    rate: z.number().gt(0).max(1).optional().describe("Which part of the requests, 1 unless told"),
    seed: z.int().optional().describe("Decides which requests a rate and a jitter hit; 1 unless told"),
    times: z.int().min(1).optional().describe("Over after so many requests"),
    duration: Duration.optional().describe("Over after so much of the sim's time: ms, or a text such as 30s"),
  })
  .superRefine((order, context) => {
    if (order.preset === undefined && order.effect === undefined)
      context.addIssue({ code: "custom", message: "a preset or an effect in it" });
  });

/** A scenario's list: presets by name, rules, or presets with what is to differ. */
export const FaultUses = z.array(
  z.union([z.enum(presetNames), FaultOrder], "the name of a preset, or an object with a preset or an effect"),
);
