import { z } from "zod";
import type { EndpointDocs } from "../../../kernel/http/endpoint.ts";
import { errorReplies, textShape } from "../../../kernel/http/error-schemas.ts";
import {
  AnyJson,
  AnyObject,
  answers,
  etagHeader,
  jsonBody,
  parametersOf,
  serviceErrors,
  token,
  unchanged,
} from "../../capture/endpoint/docs-shapes.ts";

// Wire formats of the public endpoints of flags. Loaded for the OpenAPI document only; the endpoints import types.

const FlagsRequest = z
  .looseObject({
    api_key: z.string().describe("The project key, `phc_…`; `token` is read as well"),
    distinct_id: z.string().describe("The distinct id of the person; not needed with `disable_flags`"),
    groups: AnyObject.optional().describe("Group keys by group type"),
    person_properties: AnyObject.optional().describe("Override the stored properties, key by key"),
    group_properties: z
      .record(z.string(), AnyObject)
      .optional()
      .describe("Properties by group type; override the stored ones"),
    $anon_distinct_id: z.string().optional().describe("The distinct id before the person was identified"),
    $device_id: z.string().optional(),
    flag_keys_to_evaluate: z.array(z.string()).optional().describe("Only these flags"),
    evaluation_runtime: z.enum(["all", "client", "server"]).optional(),
    evaluation_contexts: z
      .array(z.string())
      .optional()
      .describe("Flags with contexts only if they have one of these; `evaluation_environments` is read as well"),
    disable_flags: z.boolean().optional().describe("true: settings only, no flags"),
    geoip_disable: z.boolean().optional().describe("true: no properties are derived from the client's address"),
  })
  .meta({ title: "FlagsRequest" });

const PropertyAnalysis = z.strictObject({
  key: z.string(),
  operator: z.string(),
  value: AnyJson,
  type: z.string(),
  actual_value: AnyJson.describe("null for cohorts, flags, and properties that are not set"),
  matched: z.boolean(),
  explanation: z.string(),
});
export type PropertyAnalysis = z.infer<typeof PropertyAnalysis>;

const ConditionAnalysis = z
  .strictObject({
    index: z.int().describe("From 0; -1 is early access enrolment, -2 a holdout"),
    properties: z.array(PropertyAnalysis),
    rollout_percentage: z.number(),
    variant: z.string().nullable(),
    matched: z.boolean().describe("true: it decided the flag"),
    properties_matched: z.boolean(),
    rollout_excluded: z.boolean(),
    explanation: z.string(),
  })
  .meta({ title: "FlagConditionAnalysis" });
export type ConditionAnalysis = z.infer<typeof ConditionAnalysis>;

const FlagDetails = z
  .strictObject({
    key: z.string(),
    enabled: z.boolean(),
    variant: z.string().nullable(),
    reason: z.strictObject({ code: z.string(), condition_index: z.int().nullable(), description: z.string() }),
    metadata: z.strictObject({
      id: z.int(),
      version: z.int(),
      description: z.string().nullable(),
      payload: z.json().describe("JSON text; JSON itself where rules of version 2 give a number or an object"),
      has_experiment: z.boolean(),
    }),
    failed: z.boolean().optional().describe("true: the flag could not be computed"),
    conditions: z
      .array(ConditionAnalysis)
      .optional()
      .describe("With `detailed_analysis`: the result of each condition set"),
  })
  .meta({ title: "FlagDetails" });
export type FlagDetails = z.infer<typeof FlagDetails>;

const TypedFlagDetails = z
  .strictObject({
    key: z.string(),
    value: AnyJson.describe("In the flag's type; null: it has no default, or it failed"),
    failed: z.boolean().optional().describe("true: the flag could not be computed"),
    reason: FlagDetails.shape.reason,
    metadata: z.strictObject({
      ...FlagDetails.shape.metadata.shape,
      config_version: z.int().describe("2: rules with a type each; 1: condition sets"),
      rule_type: z.enum(["targeted_release", "percentage_rollout", "experiment"]).optional(),
      rule_id: z.string().optional().describe("The rule that decided"),
      variant_key: z.string().optional().describe("Only of flags with condition sets"),
    }),
    conditions: FlagDetails.shape.conditions,
  })
  .meta({ title: "TypedFlagDetails" });
export type TypedFlagDetails = z.infer<typeof TypedFlagDetails>;

const always = { requestId: z.uuid(), evaluatedAt: z.int().describe("ms since the epoch") };

const flagKeys = {
  flags: z
    .record(z.string(), z.union([FlagDetails, TypedFlagDetails]))
    .optional()
    .describe("From v=4 on /decide, from v=2 on /flags; with typed values from v=3 on /flags"),
  featureFlags: z
    .union([z.record(z.string(), z.union([z.boolean(), z.string()])), z.array(z.string())])
    .optional()
    .describe("Value by flag key (v=2, v=3, and v=1 on /flags); keys of the flags that are on (v=1 on /decide)"),
  featureFlagPayloads: z.record(z.string(), z.string()).optional().describe("JSON text by flag key"),
  minimalFlagCalledEvents: z
    .literal(true)
    .optional()
    .describe("If it is in the project's settings (v=2): SDKs send `$feature_flag_called` with few properties"),
  errorsWhileComputingFlags: z.boolean().optional().describe("true: some flags could not be computed"),
  quotaLimited: z
    .array(z.string())
    .optional()
    .describe("`feature_flags` if the project has used up its requests: no flags then"),
};

const settings = {
  config: z.looseObject({ enable_collect_everything: z.boolean() }).describe("Always the same"),
  toolbarParams: AnyObject,
  isAuthenticated: z.boolean(),
};

const FlagsAnswer = z
  .looseObject({ ...always, ...flagKeys, ...z.object({ ...settings, supportedCompression: AnyJson }).partial().shape })
  .meta({ title: "FlagsAnswer" });

const DecideAnswer = z
  .looseObject({ ...always, ...settings, supportedCompression: z.array(z.string()), ...flagKeys })
  .meta({ title: "DecideAnswer" });

const FlagDefinition = z
  .strictObject({
    id: z.int(),
    team_id: z.int(),
    name: z.string(),
    key: z.string(),
    filters: AnyObject,
    deleted: z.boolean(),
    active: z.boolean(),
    ensure_experience_continuity: z.boolean(),
    has_encrypted_payloads: z.boolean(),
    has_experiment: z.boolean(),
    version: z.int(),
    evaluation_runtime: z.enum(["all", "client", "server"]),
    evaluation_contexts: z.array(z.string()),
    bucketing_identifier: z.string().nullable(),
  })
  .meta({ title: "FlagDefinition" });

const FlagDefinitions = z
  .strictObject({
    flags: z.array(FlagDefinition),
    group_type_mapping: z.record(z.string(), z.string()).describe("Group type by its index"),
    cohorts: z.record(z.string(), AnyObject).describe("Conditions by cohort id"),
    minimal_flag_called_events: z
      .literal(true)
      .optional()
      .describe("If it is in the project's settings: SDKs send `$feature_flag_called` with few properties"),
    property_matching_version: z.int().optional().describe("2 if it is in the project's settings"),
  })
  .meta({ title: "FlagDefinitions" });
export type FlagDefinitions = z.infer<typeof FlagDefinitions>;

const yes = z.enum(["true"]);

const EvaluationQuery = z.object({
  v: z.int().describe("Version of the response; `version` is read as well"),
  config: z.enum(["true", "false"]).describe("`true`: with the project's settings, `false`: without"),
  only_evaluate_survey_feature_flags: yes.describe("`true`: only flags that target surveys"),
  only_use_override_person_properties: yes.describe("`true`: stored properties are ignored"),
  detailed_analysis: yes.describe("`true`: with the result of each condition set"),
  compression: z.enum(["gzip", "gzip-js", "base64"]).describe("Compression of the body"),
});

const EvaluationHeaders = z.object({
  HTTP_X_FORWARDED_FOR: z.string().describe("An address that replaces the client's"),
  "X-Request-Id": z.uuid().describe("Returned as `requestId`"),
});

const LocalEvaluationQuery = z.object({
  send_cohorts: z
    .string()
    .describe("If present, the response has cohorts; if not, flags with one simple cohort have its conditions"),
});

const evaluation = (answer: z.ZodType): EndpointDocs => ({
  query: parametersOf(EvaluationQuery.shape),
  headers: parametersOf(EvaluationHeaders.shape),
  body: jsonBody(FlagsRequest),
  replies: {
    ...answers("The flags of a person", answer),
    ...errorReplies(textShape, 400, 408, 413),
    ...serviceErrors(401),
  },
});

const stub = (answer: z.ZodType): EndpointDocs => ({
  query: parametersOf(EvaluationQuery.shape),
  replies: answers("No flags, as the request has no person", answer),
});

const definitions: EndpointDocs = {
  query: parametersOf({ token }),
  headers: parametersOf(etagHeader),
  replies: {
    ...answers("All that a server SDK needs to evaluate flags locally", FlagDefinitions),
    ...unchanged,
    ...serviceErrors(401, 402, 403, 404),
  },
};

const localEvaluation: EndpointDocs = { ...definitions, query: parametersOf({ token, ...LocalEvaluationQuery.shape }) };

export const flagDocs: Readonly<Record<string, EndpointDocs>> = {
  "POST /flags": evaluation(FlagsAnswer),
  "GET /flags": stub(FlagsAnswer),
  "POST /decide": evaluation(DecideAnswer),
  "GET /decide": stub(DecideAnswer),
  "GET /flags/definitions": {
    ...definitions,
    // The flags service refuses a personal key without `?token=`, in plain text.
    replies: { ...definitions.replies, ...errorReplies(textShape, 400) },
  },
  "GET /api/feature_flag/local_evaluation": localEvaluation,
  "GET /api/projects/:project_id/feature_flags/local_evaluation": localEvaluation,
  "GET /api/projects/:project_id/feature_flags/:key/remote_config": {
    query: parametersOf({ token }),
    replies: {
      ...answers("The payload, as JSON text in a JSON string; no body if there is none", z.string()),
      ...serviceErrors(401, 403, 404),
    },
  },
};
