import type { EndpointDocs, JsonSchema, QueryParameter } from "../../http/endpoint.ts";
import {
  anyOf,
  anything,
  boolean,
  described,
  dictionary,
  exact,
  integer,
  listOf,
  mapOf,
  nullable,
  number,
  oneOf,
  open,
  text,
  time,
  titled,
} from "../../http/json-schema.ts";
import { bodyErrors, bodyOf, docsOf, parameter, whole } from "../docs-row.ts";
import { progress } from "../totals-docs.ts";

const value = described(anyOf(boolean, text), "A text is a variant");

const overrideFields = {
  project: integer,
  key: text,
  distinct_id: described(nullable(text), "Only for it; null: for everybody"),
  value,
  payload: described(anything, "null: what the flag's own payloads say for the value"),
  created_at: time,
};

const override = titled("FlagOverride", exact(overrideFields));

const sentences = (description: string) => described(listOf(text), description);

const words = titled(
  "FlagWords",
  exact({
    before: sentences("What counts before the condition sets"),
    sets: sentences("One for each condition set; the first that matches decides"),
    after: sentences("What comes of a match"),
    cohorts: sentences("The cohorts that it asks for"),
  }),
);

const flagFields = {
  project: integer,
  key: text,
  id: described(nullable(integer), "null for a key that has overrides only"),
  name: text,
  active: boolean,
  rules: described(listOf(text), "The condition sets, then the variants, in words"),
  variants: listOf(text),
  shares: described(listOf(exact({ variant: text, percentage: number })), "The variants, in percent"),
  words: described(nullable(words), "The rules in plain English; null for a key that has overrides only"),
  overrides: listOf(override),
};

const flag = titled("FlagSummary", exact(flagFields));

const flagInFull = titled(
  "FlagInFull",
  exact({
    ...flagFields,
    filters: described(nullable(dictionary), "As they are written; null for a key that has overrides only"),
  }),
);

const decisionFields = {
  value,
  enabled: boolean,
  variant: nullable(text),
  payload: described(nullable(text), "JSON text"),
  failed: described(boolean, "It could not be computed: the value says nothing"),
  reason: exact({ code: text, description: text }),
  condition_index: described(nullable(integer), "Which condition set decided, from 0"),
};

const hash = titled(
  "FlagHash",
  exact({
    input: described(text, "The text whose SHA-1 it is"),
    identifier: text,
    identifier_kind: text,
    hash: number,
  }),
);

const rollout = titled(
  "FlagRollout",
  exact({ percentage: number, hash: nullable(hash), threshold: number, passed: boolean }),
);

const variantRanges = exact({
  forced: nullable(text),
  hash: nullable(hash),
  ranges: listOf(exact({ variant: text, from: number, to: number, hit: boolean })),
});

const property = titled(
  "FlagProperty",
  open(
    {
      type: text,
      key: text,
      operator: text,
      expected: anything,
      words: described(text, "What it asks for, in plain English"),
      passed: boolean,
    },
    { actual: described(anything, "Absent where the property is"), failure: text },
  ),
);

const condition = titled(
  "FlagCondition",
  exact({
    index: integer,
    reached: described(boolean, "Did the evaluation come to it?"),
    matched: boolean,
    miss: nullable(text),
    failure: nullable(text),
    group_type_index: nullable(integer),
    group_type: nullable(text),
    properties: listOf(property),
    rollout: nullable(rollout),
    variant: nullable(titled("FlagVariantRanges", variantRanges)),
    hint: described(nullable(text), "What would have had to differ for it to match"),
  }),
);

const explanation = titled(
  "FlagExplanation",
  exact({
    project: integer,
    distinct_id: text,
    key: text,
    id: nullable(integer),
    active: boolean,
    ...decisionFields,
    override: described(nullable(override), "What made the value; null: the rules did"),
    by_rules: described(
      nullable(titled("FlagDecision", exact(decisionFields))),
      "What the rules say, overridden or not",
    ),
    enrollment: nullable(exact({ form: text, properties: listOf(property), decided: boolean })),
    holdout: nullable(
      exact({
        variant: text,
        percentage: number,
        hash: nullable(hash),
        threshold: number,
        held_out: boolean,
      }),
    ),
    conditions: listOf(condition),
    hint: described(nullable(text), "What would have had to differ for the flag to be on"),
  }),
);

const distribution = titled(
  "FlagDistribution",
  exact({
    project: integer,
    key: text,
    count: integer,
    failed: described(integer, "For whom it could not be computed"),
    values: listOf(exact({ value, count: integer, share: number })),
    override: described(nullable(override), "For everybody; it is not counted"),
  }),
);

const servings = titled(
  "FlagServings",
  exact({
    key: text,
    fits: described(boolean, "Is there one with the value that was asked for?"),
    served: listOf(
      exact({
        by: oneOf("answer", "local_evaluation"),
        at: time,
        request: described(integer, "Number of the request"),
        seq: described(nullable(integer), "Number of the event that said so; null for an answer"),
        project: nullable(integer),
        distinct_id: nullable(text),
        value: described(nullable(anyOf(boolean, text)), "null: the answer did not have the flag"),
        status: integer,
        fault: described(nullable(text), "Names of the faults that touched the request"),
      }),
    ),
  }),
);

const decidedFlag = exact({
  key: text,
  value: described(nullable(value), "null: an SDK had no value"),
  payload: described(nullable(text), "JSON text"),
  reason: described(
    nullable(exact({ code: text, description: text })),
    "null where it was not told: only /flags?v=2 and SDKs tell",
  ),
  condition_index: described(nullable(integer), "Which condition set decided, from 0"),
  failed: boolean,
});

const flagCall = titled(
  "FlagCall",
  exact({
    seq: described(integer, "Number of the `$feature_flag_called` event"),
    request: integer,
    at: time,
    key: text,
    response: described(nullable(value), "What the app was given; null: nothing"),
    differs: described(boolean, "Is that something else than what was decided?"),
  }),
);

const flagsAsked = exact({
  person_properties: dictionary,
  groups: dictionary,
  group_properties: dictionary,
  device_id: nullable(text),
  anon_distinct_id: nullable(text),
  ip: described(nullable(text), "null where it was not to count"),
  keys: described(nullable(listOf(text)), "Only these flags; null: all"),
});

const decisionMade = titled(
  "FlagDecisionMade",
  exact({
    by: oneOf("answer", "local_evaluation"),
    at: time,
    request: described(integer, "Number of the request"),
    seq: described(nullable(integer), "Number of the event that said so; null for an answer"),
    project: nullable(integer),
    distinct_id: nullable(text),
    client: described(nullable(text), "The caller's User-Agent"),
    status: integer,
    rejected: described(nullable(text), "Why the request was rejected"),
    fault: described(nullable(text), "Names of the faults that touched the request"),
    has_errors: described(boolean, "Did the answer say `errorsWhileComputingFlags`?"),
    asked: described(nullable(flagsAsked), "null for an evaluation by an SDK"),
    flags: listOf(decidedFlag),
    called: described(listOf(flagCall), "The uses that followed, newest first"),
  }),
);

const decisionsMade = titled(
  "FlagDecisionsMade",
  exact({
    decisions: listOf(decisionMade),
    before: described(nullable(integer), "Where to go on with `before`; null: there are no more"),
  }),
);

const decisionTotals = titled(
  "FlagDecisionTotals",
  exact({
    ...progress,
    flags: listOf(
      exact({
        project: nullable(integer),
        key: text,
        served: described(integer, "How often it was in an answer, or evaluated by an SDK"),
        called: described(integer, "How often an app used it, as `$feature_flag_called` reports"),
        differs: described(integer, "Uses with another value than was decided"),
        values: described(
          listOf(
            exact({
              value: described(nullable(value), "null: an app was given nothing"),
              served: integer,
              called: integer,
            }),
          ),
          "The most frequent ones first",
        ),
      }),
    ),
  }),
);

interface Field {
  readonly description: string;
  readonly schema: JsonSchema;
}

const project: Field = { description: "Its project; the first unless told", schema: whole(0) };

/** What is said of the subject besides its id. */
const aboutFields: Readonly<Record<string, Field>> = {
  project,
  person: { description: "Properties that count before the stored ones", schema: dictionary },
  groups: { description: "Keys of groups, by their type", schema: mapOf(anyOf(text, number)) },
  group_properties: { description: "Properties of groups, by their type", schema: mapOf(dictionary) },
};

const explainFields: Readonly<Record<string, Field>> = {
  ...aboutFields,
  device_id: { description: "For flags that go by device", schema: text },
  anon_distinct_id: { description: "The id before the person was identified", schema: text },
  ip: { description: "An address that tells `$geoip_` properties", schema: text },
};

const distinctId: Field = { description: "Whom it is about", schema: text };

const simulateFields: Readonly<Record<string, Field>> = {
  ...aboutFields,
  count: { description: "How many subjects, 1,000 unless told", schema: whole(1, 100_000) },
};

/** Objects are JSON text in the query. */
const inQuery = (fields: Readonly<Record<string, Field>>): QueryParameter[] =>
  Object.entries(fields).map(([name, { description, schema }]) =>
    schema.type === "object"
      ? parameter(name, `${description}; a JSON object`)
      : parameter(name, description, schema),
  );

const inBody = (fields: Readonly<Record<string, Field>>): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { description, schema }]) => [
      name,
      described(nullable(schema), description),
    ]),
  );

const ofFlag = inQuery({ project });
const removed = exact({ removed: described(integer, "How many") });
const key = "/__sim/flags/:key";

/** What the OpenAPI document says of the flag endpoints, by method and path. */
export const flagDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/flags": docsOf("Flags", exact({ flags: listOf(flag) }), {
    errors: [400],
    query: [parameter("project", "Only this project's", whole(0))],
  }),
  "DELETE /__sim/flags": docsOf("Overrides were removed", removed, {
    errors: [400],
    query: [parameter("project", "Only this project's", whole(0))],
  }),
  [`GET ${key}`]: docsOf("The flag", flagInFull, { errors: [400, 404], query: ofFlag }),
  [`PUT ${key}`]: docsOf(
    "The override",
    titled(
      "FlagOverrideSet",
      exact({
        ...overrideFields,
        known: described(boolean, "Does the project have such a flag?"),
        hint: nullable(text),
      }),
    ),
    {
      errors: [...bodyErrors, 404],
      body: bodyOf(
        {
          payload: described(anything, "Instead of the flag's own for the value"),
          distinct_id: described(nullable(text), "Only for it"),
          project: described(nullable(whole(0)), project.description),
          force: described(
            boolean,
            "Sets a flag that the project does not have, or a variant that the flag does not have",
          ),
        },
        { value },
      ),
    },
  ),
  [`DELETE ${key}`]: docsOf("Overrides were removed", removed, {
    errors: [400, 404],
    query: [
      ...ofFlag,
      parameter("distinct_id", "Only the one for this distinct id"),
      parameter("for", "Only the one that is for everybody, whatever distinct_id says", oneOf("everybody")),
    ],
  }),
  [`GET ${key}/explain`]: docsOf("Why", explanation, {
    errors: [400, 404],
    query: inQuery({ distinct_id: distinctId, ...explainFields }),
  }),
  [`POST ${key}/explain`]: docsOf("Why", explanation, {
    errors: [...bodyErrors, 404],
    body: bodyOf(inBody(explainFields), { distinct_id: text }),
  }),
  [`GET ${key}/simulate`]: docsOf("Who gets what", distribution, {
    errors: [400, 404],
    query: inQuery(simulateFields),
  }),
  [`POST ${key}/simulate`]: docsOf("Who gets what", distribution, {
    errors: [...bodyErrors, 404],
    body: bodyOf(inBody(simulateFields)),
  }),
  [`GET ${key}/served`]: docsOf("What clients got", servings, {
    errors: [400],
    query: [
      parameter("project", "Only this project's", whole(0)),
      parameter("distinct_id", "Only what this distinct id got"),
      parameter("value", "`true`, `false` or a variant: what is looked for; any unless told"),
      parameter("wait_ms", "How long to wait for one that fits, 0 unless told", whole(0, 60_000)),
      parameter("limit", "Most results, 20 unless told", whole(1, 1_000)),
    ],
  }),
  "GET /__sim/flag-decisions/totals": docsOf("How often flags were decided", decisionTotals, {
    errors: [400],
    query: [parameter("project", "Only this project's", whole(0))],
  }),
  "GET /__sim/flag-decisions": docsOf("What was decided", decisionsMade, {
    errors: [400],
    query: [
      parameter("project", "Only this project's", whole(0)),
      parameter("key", "Only this flag"),
      parameter("distinct_id", "Only what this distinct id was given"),
      parameter("before", "Only decisions before this request", whole(1)),
      parameter("since", "Only decisions after this request", whole(0)),
      parameter("limit", "Most results, 50 unless told; those of one request stay together", whole(1, 500)),
    ],
  }),
};
