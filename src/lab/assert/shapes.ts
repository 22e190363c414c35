import { z } from "zod";
import { isObject, type JsonObject, stepsOf } from "../../kernel/base/json.ts";
import { Outcome, ProjectNumber, SinceSeq, WaitMs } from "../../state/journal/query-shapes.ts";
import { Cursor, StoredEvent } from "../../state/journal/stored-event.ts";
import { defaultSettle, defaultWait, longestTitle, mostEvents, mostPatterns } from "./limits.ts";
import { checkEventPattern } from "./match/event-pattern.ts";
import type { PatternProblem } from "./match/pattern.ts";
import { Report } from "./match/report-shapes.ts";

export const patternLanguage =
  "A pattern for the whole event: a literal is equal, an object is a recursive subset, an array fits item by item, keys that start with @ are operators (@gte, @regex, @any …)";

const notPattern: PatternProblem = {
  pointer: "",
  detail: "a pattern must be an object, or the event's name",
  hint: 'for example {"event": "signup", "properties": {"plan": "pro"}}',
};

/** A pattern for events, or an event's name. The parser of patterns reports the mistakes. */
export const EventPattern = z
  .custom<string | JsonObject>()
  .superRefine((pattern, context) => {
    if (typeof pattern === "string") return;
    const [problem] = isObject(pattern) ? checkEventPattern(pattern) : [notPattern];
    if (!problem) return;
    const { pointer, detail, hint } = problem;
    context.addIssue({ code: "custom", message: detail, path: stepsOf(pointer), params: { detail, hint } });
  })
  .meta({
    anyOf: [
      { type: "object", description: patternLanguage },
      { type: "string", description: "The event's name" },
    ],
  });

export const patternOf = (pattern: string | JsonObject): JsonObject =>
  typeof pattern === "string" ? { event: pattern } : pattern;

const scope = { project: ProjectNumber.nullish().describe("Only this project's events"), since: SinceSeq.nullish() };

const settle = WaitMs.nullish().describe(`How long it must be quiet, ms (default: ${defaultSettle})`);

const limits = {
  timeout_ms: WaitMs.nullish().describe(`How long to wait, ms (default: ${defaultWait})`),
  title: z.string().max(longestTitle).nullish().describe("First line of the report"),
};

/** One pattern with a count, or several in order. */
export const WaitRequest = z
  .strictObject({
    match: EventPattern.optional(),
    count: z.int().min(1).max(mostEvents).nullish().describe("At least this many events (default: 1)"),
    sequence: z
      .array(EventPattern)
      .min(1)
      .max(mostPatterns)
      .optional()
      .describe("One event for each pattern, in this order; excludes `match` and `count`"),
    ...scope,
    outcome: Outcome.optional(),
    ...limits,
  })
  .superRefine((request, context) => {
    if (request.sequence === undefined) return;
    const other = (["match", "count"] as const).find((key) => request[key] !== undefined);
    if (other === undefined) return;
    const detail = `"${other}" and "sequence" exclude each other`;
    context.addIssue({ code: "custom", message: detail, path: [other], params: { detail } });
  });
export type WaitRequest = z.infer<typeof WaitRequest>;

export const Waited = z.strictObject({ events: z.array(StoredEvent), cursor: Cursor }).meta({ title: "Waited" });

const Amount = z.int().min(0).max(mostEvents);

/** A number means exactly this many. */
const RequestedCount = z
  .union([
    Amount,
    z.strictObject({ min: Amount.nullish(), max: Amount.nullish() }).superRefine(({ min, max }, context) => {
      const detail = '"min" is larger than "max"';
      if ((min ?? 0) > (max ?? mostEvents)) context.addIssue({ code: "custom", message: detail, params: { detail } });
    }),
  ])
  .describe("Exactly this many, or limits (default: at least 1)");
export type RequestedCount = z.infer<typeof RequestedCount>;

export const VerifyRequest = z
  .strictObject({
    expect: z.array(z.strictObject({ match: EventPattern, count: RequestedCount.nullish() })).max(mostPatterns),
    ordered: z
      .boolean()
      .nullish()
      .describe("If true, the events of each expectation come after those of the one before"),
    nothing_else: z
      .boolean()
      .nullish()
      .describe("If true, every other event is an error, except those whose names start with $ and are not named"),
    no_ended_keys: z
      .boolean()
      .nullish()
      .describe(
        "If true, a request of the test with the key of an ended project, or with one that no project has, is an error",
      ),
    ...scope,
    ...limits,
    settle_ms: settle,
  })
  .superRefine(({ expect, nothing_else, no_ended_keys }, context) => {
    if (expect.length === 0 && !nothing_else && !no_ended_keys)
      context.addIssue({ code: "custom", message: "at least one entry", path: ["expect"] });
  });
export type VerifyRequest = z.infer<typeof VerifyRequest>;

export const Verified = z
  .strictObject({
    passed: z.literal(true),
    matched: z.array(z.array(z.int())).describe("For each expectation the seqs of the events that fit it"),
    events: z.array(StoredEvent).describe("Those events, 1,000 at most"),
    settled: z.boolean().describe("False if it did not get quiet in time"),
    cursor: Cursor,
  })
  .meta({ title: "Verified" });

/** A call that a closing sim ends early has no report. */
export const Failed = z
  .strictObject({
    code: z.string(),
    detail: z.string(),
    hint: z.string().nullable(),
    pointer: z.string().nullable(),
    waited_ms: z.int(),
    cursor: Cursor,
    report: Report.optional(),
  })
  .meta({ title: "Failed" });

export const SurroundingsRequest = z.strictObject({ match: EventPattern.optional(), ...scope });

export const SettleRequest = z.strictObject({
  project: ProjectNumber.nullish().describe("Only this project's requests"),
  idle_ms: settle,
  timeout_ms: limits.timeout_ms,
});
export type SettleRequest = z.infer<typeof SettleRequest>;

export const Settled = z.strictObject({ quiet: z.literal(true), cursor: Cursor });
