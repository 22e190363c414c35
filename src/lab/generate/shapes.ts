import { z } from "zod";
import { readDuration, readMoment } from "../../kernel/base/time-text.ts";

export const personaNames = ["shopper", "saas", "reader"] as const;
export type PersonaName = (typeof personaNames)[number];

// Messages of these shapes complete the sentence "expected …".

const share = z.number().min(0).max(1);
const weight = z.number().min(0);
const hasWeight = (weights: readonly number[]): boolean => weights.some((it) => it > 0);
const someWeight = "numbers of which one at least is above 0";

const Duration = z.string().refine((text) => readDuration(text) !== undefined, "a duration such as 30s, 5m or 2d");

const spanText = "a duration such as 30s, or the shortest and the longest one: [5s, 2m]";
const Span = z.union(
  [
    Duration,
    z
      .tuple([Duration, Duration], spanText)
      .refine(([least, most]) => (readDuration(least) ?? 0) <= (readDuration(most) ?? 0), spanText),
  ],
  spanText,
);

const countText = "a whole number above 0, or the least and the most: [1, 4]";
const Count = z.union(
  [
    z.int().positive(),
    z.tuple([z.int().positive(), z.int().positive()], countText).refine(([least, most]) => least <= most, countText),
  ],
  countText,
);

const scalar = [z.string(), z.number(), z.boolean(), z.null()] as const;
const Plain = z.union([...scalar, z.array(z.union(scalar))]);

const Choice = z.strictObject({
  one_of: z
    .union(
      [z.array(Plain).min(1), z.record(z.string(), weight).refine((it) => hasWeight(Object.values(it)), someWeight)],
      "a list of values, or an object with the weight of each one",
    )
    .describe("A list of values with equal chances, or an object with the weight of each value."),
});

const NumberRange = z
  .strictObject({
    from: z.number().describe("The least value."),
    to: z.number().describe("The greatest value."),
    decimals: z.int().min(0).max(6).optional().describe("Digits after the point; by default none."),
    spread: z
      .enum(["even", "low"])
      .optional()
      .describe("`even` (default), or `low`: small values are more frequent; `from` is above 0."),
  })
  .refine(({ from, to }) => from <= to, "an object with `from` up to `to`")
  .refine(({ from, spread }) => spread !== "low" || from > 0, "an object with `from` above 0 for `spread: low`");

const NewId = z.strictObject({ id: z.string().describe("A new id each time, with this beginning: `order-`.") });

const PersonaValue = z.union(
  [Plain, Choice, NumberRange, NewId],
  "a value, or how it is chosen: { one_of }, { from, to } or { id }",
);
export type PersonaValue = z.infer<typeof PersonaValue>;

const PersonaValues = z.record(z.string().min(1), PersonaValue);
export type PersonaValues = z.infer<typeof PersonaValues>;

export const PersonaStep = z.strictObject({
  event: z.string().min(1).max(200).describe("Name of the event."),
  rate: share.optional().describe("Share of those at the step before who get here, from 0 to 1; by default 1."),
  after: Span.optional().describe(
    "Time since the event before: one, or the shortest and longest; by default [5s, 2m].",
  ),
  times: Count.optional().describe("How often the event occurs; by default once."),
  identify: z
    .boolean()
    .optional()
    .describe("True: `$identify` precedes it, unless the user is identified. By default false."),
  properties: PersonaValues.optional().describe("Properties of the event, chosen anew for each one."),
  set: PersonaValues.optional().describe("Properties of the person that the event sets."),
});
export type PersonaStep = z.infer<typeof PersonaStep>;

const Steps = z.array(PersonaStep).min(1);

const Returns = z.strictObject({
  weeks: z
    .array(share)
    .min(1)
    .describe("Chance to return in the first, second … week after the first visit; the last one repeats."),
  visits: Count.optional().describe("Visits in such a week; by default one."),
  only_after: z.string().optional().describe("Only users with this event return; by default all."),
  steps: Steps.optional().describe("Steps of these visits; by default those of the first one."),
});

const Source = z.strictObject({
  weight: weight.describe("How frequent it is among the sources."),
  source: z.string().optional().describe("`utm_source`; by default none: a direct visit."),
  medium: z.string().optional().describe("`utm_medium`; by default none."),
  campaign: z.string().optional().describe("`utm_campaign`; by default none."),
});

const Exposure = z.strictObject({
  rollout: z.number().min(0).max(100).optional().describe("Percent of users who get it; by default 100."),
  variants: z
    .record(z.string(), z.number().min(0).max(100))
    .optional()
    .describe("Percent of each variant; together 100."),
  at: z.string().optional().describe("The event before which it is first called; by default the first one."),
});
export type Exposure = z.infer<typeof Exposure>;

const GroupSize = z.strictObject({
  members: Count.describe("Users of each group."),
  properties: PersonaValues.optional().describe("Properties of the group, chosen once."),
});

/** What users of a kind do, with the chance of each thing. */
export const Persona = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,39}$/, "lower-case letters, digits, `-` and `_`, a letter first")
    .describe("The persona's name; distinct ids begin with it."),
  description: z.string().optional().describe("What its users do, in a sentence."),
  person_profiles: z
    .enum(["identified_only", "always"])
    .optional()
    .describe("`identified_only` (default): anonymous events have no person, as with posthog-js; or `always`."),
  steps: Steps.describe("The events from the first visit on, in order; a pause of 30 minutes ends a session."),
  returns: Returns.optional().describe(
    "Later visits: their chance by week (`weeks`), `visits` in such a week, `only_after` an event, `steps`.",
  ),
  person: PersonaValues.optional().describe(
    "Properties of the person, chosen once and sent with `$identify`; {n} in a text is the user's number.",
  ),
  properties: PersonaValues.optional().describe("Properties of all events of a user, chosen once."),
  session: PersonaValues.optional().describe("Properties of all events of a session, chosen once for each session."),
  utm: z
    .array(Source)
    .min(1)
    .refine((all) => hasWeight(all.map((it) => it.weight)), "a source with a weight above 0")
    .optional()
    .describe("Sources of sessions: `weight`, `source`, `medium`, `campaign`; by default none are sent."),
  flags: z
    .record(z.string().min(1), Exposure)
    .optional()
    .describe("Flags by key (`rollout`, `variants`, `at`): `$feature_flag_called`, and `$feature/KEY` on all events."),
  groups: z
    .record(z.string().min(1), GroupSize)
    .optional()
    .describe("Groups by type (`members`, `properties`); each identified user is in one of each type."),
  hours: z
    .array(weight)
    .length(24, "24 numbers, one for each hour from 0 to 23")
    .refine(hasWeight, someWeight)
    .optional()
    .describe("Weight of each hour of the day in the project's time zone; by default all are equal."),
  weekdays: z
    .array(weight)
    .length(7, "7 numbers, Monday first")
    .refine(hasWeight, someWeight)
    .optional()
    .describe("Weight of each day of the week, Monday first; by default all are equal."),
  funnel: z
    .strictObject({
      steps: z.array(z.string()).min(2).describe("Names of its events, in order."),
      window: Duration.optional().describe("Longest time from the first to the last step; by default 14d."),
    })
    .optional()
    .describe("The funnel of its figures (`steps`, `window`); by default all steps, within 14d."),
  revenue: z
    .strictObject({
      event: z.string().describe("Name of the event."),
      property: z.string().describe("Name of its property with a number."),
    })
    .optional()
    .describe("The sum in its figures (`event`, `property`); by default none."),
  retention: z
    .strictObject({ event: z.string().describe("Name of the event.") })
    .optional()
    .describe("Retention and lifecycle in its figures (`event`); by default of the first step."),
});
export type Persona = z.infer<typeof Persona>;

/** Traffic to generate, as a scenario describes it. */
export const AuthoredTraffic = z.strictObject({
  persona: z
    .union([z.enum(personaNames), Persona], `${personaNames.join(", ")}, or a persona`)
    .optional()
    .describe(`A built-in persona (${personaNames.join(", ")}) or one of your own; by default shopper.`),
  users: z.int().min(1).max(1_000_000).optional().describe("Number of users; by default 500."),
  days: z.int().min(1).max(3660).optional().describe("Number of calendar days, the last one included; by default 90."),
  until: z
    .string()
    .refine((text) => readMoment(text) !== undefined, "a time from 1970 to 9999, such as 2025-06-01T12:00:00Z")
    .optional()
    .describe("Time of the end, such as 2025-06-01T12:00:00Z; by default the clock's last full minute."),
  seed: z.int().min(0).max(999_999_999).optional().describe("Another seed, another traffic; by default 1."),
});
export type AuthoredTraffic = z.infer<typeof AuthoredTraffic>;
