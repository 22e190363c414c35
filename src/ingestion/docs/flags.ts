import type { EndpointDocs, JsonSchema } from "../../http/endpoint.ts";
import { errorReplies, textShape } from "../../http/error-schemas.ts";
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
  titled,
  uuid,
} from "../../http/json-schema.ts";
import {
  answers,
  etagHeader,
  jsonBody,
  parameter,
  serviceErrors,
  tokenParameter,
  unchanged,
} from "./shapes.ts";

const request = titled(
  "FlagsRequest",
  open(
    {
      api_key: described(text, "The project key, `phc_…`; `token` is read as well"),
      distinct_id: described(text, "Whose flags; not needed with `disable_flags`"),
    },
    {
      groups: described(dictionary, "Group type → group key"),
      person_properties: described(dictionary, "Used instead of the stored ones, key by key"),
      group_properties: described(
        mapOf(dictionary),
        "Group type → properties, used instead of the stored ones",
      ),
      $anon_distinct_id: described(text, "The id before the person was identified"),
      $device_id: text,
      flag_keys_to_evaluate: described(listOf(text), "Only these flags"),
      evaluation_runtime: oneOf("all", "client", "server"),
      evaluation_contexts: described(
        listOf(text),
        "Flags that name contexts only if they name one of these; `evaluation_environments` is read as well",
      ),
      disable_flags: described(boolean, "true: no flags, only settings"),
      geoip_disable: described(boolean, "true: nothing is derived from the caller's address"),
    },
  ),
);

const analysis = titled(
  "FlagConditionAnalysis",
  exact({
    index: described(integer, "From 0; -1 is early access enrolment, -2 a holdout"),
    properties: listOf(
      exact({
        key: text,
        operator: text,
        value: anything,
        type: text,
        actual_value: described(anything, "null for cohorts, flags, and properties that are not there"),
        matched: boolean,
        explanation: text,
      }),
    ),
    rollout_percentage: number,
    variant: nullable(text),
    matched: described(boolean, "true: it decided the flag"),
    properties_matched: boolean,
    rollout_excluded: boolean,
    explanation: text,
  }),
);

const details = titled(
  "FlagDetails",
  exact(
    {
      key: text,
      enabled: boolean,
      variant: nullable(text),
      reason: exact({ code: text, condition_index: nullable(integer), description: text }),
      metadata: exact({
        id: integer,
        version: integer,
        description: nullable(text),
        payload: described(nullable(text), "JSON text"),
        has_experiment: boolean,
      }),
    },
    {
      failed: described(boolean, "true: the flag could not be computed"),
      conditions: described(listOf(analysis), "With `detailed_analysis`: what each condition set came to"),
    },
  ),
);

const always = { requestId: uuid, evaluatedAt: described(integer, "ms since the epoch") };

const errorsWhileComputingFlags = described(boolean, "true: some flags could not be computed");

/** The flags in each of the shapes that versions of the endpoint have. */
const flagKeys = {
  flags: described(mapOf(details), "From v=4 on /decide, from v=2 on /flags"),
  featureFlags: described(
    anyOf(mapOf(anyOf(boolean, text)), listOf(text)),
    "Value by flag key (v=2, v=3, and v=1 on /flags); keys of the flags that are on (v=1 on /decide)",
  ),
  featureFlagPayloads: described(mapOf(text), "JSON text by flag key"),
  errorsWhileComputingFlags,
  quotaLimited: described(
    listOf(text),
    "`feature_flags` when the project has used up its requests: no flags then",
  ),
};

const settings = {
  config: described(open({ enable_collect_everything: boolean }), "Always the same"),
  toolbarParams: dictionary,
  isAuthenticated: boolean,
};

const flagsAnswer = titled(
  "FlagsAnswer",
  open(always, { ...flagKeys, ...settings, supportedCompression: anything }),
);

const decideAnswer = titled(
  "DecideAnswer",
  open({ ...always, ...settings, supportedCompression: listOf(text) }, flagKeys),
);

const query = [
  parameter("v", "Version of the answer; `version` is read as well", integer),
  parameter("config", "`true`: with the project's settings, `false`: without", oneOf("true", "false")),
  parameter("only_evaluate_survey_feature_flags", "`true`: only those that target surveys", oneOf("true")),
  parameter("only_use_override_person_properties", "`true`: stored properties do not count", oneOf("true")),
  parameter("detailed_analysis", "`true`: with what each condition set came to", oneOf("true")),
  parameter("compression", "How the body is packed", oneOf("gzip", "gzip-js", "base64")),
];

const evaluation = (answer: JsonSchema): EndpointDocs => ({
  query,
  headers: [
    parameter("HTTP_X_FORWARDED_FOR", "An address that replaces the caller's"),
    parameter("X-Request-Id", "Comes back as `requestId`", uuid),
  ],
  body: jsonBody(request),
  replies: {
    ...answers("The flags of a person", answer),
    ...errorReplies(textShape, 400, 408, 413),
    ...serviceErrors(401),
  },
});

const stub = (answer: JsonSchema): EndpointDocs => ({
  query,
  replies: answers("No flags: nobody was named", answer),
});

const definition = titled(
  "FlagDefinition",
  exact({
    id: integer,
    team_id: integer,
    name: text,
    key: text,
    filters: dictionary,
    deleted: boolean,
    active: boolean,
    ensure_experience_continuity: boolean,
    has_encrypted_payloads: boolean,
    version: integer,
    evaluation_runtime: oneOf("all", "client", "server"),
    evaluation_contexts: listOf(text),
    bucketing_identifier: nullable(text),
  }),
);

const definitions: EndpointDocs = {
  query: [tokenParameter],
  headers: [etagHeader],
  replies: {
    ...answers(
      "Everything a server SDK needs to evaluate flags by itself",
      titled(
        "FlagDefinitions",
        exact(
          {
            flags: listOf(definition),
            group_type_mapping: described(mapOf(text), "Group type by its index"),
            cohorts: described(mapOf(dictionary), "Conditions by cohort id"),
          },
          { property_matching_version: described(integer, "2 where the project says so") },
        ),
      ),
    ),
    ...unchanged,
    ...serviceErrors(401, 402, 403, 404),
  },
};

/** The flags service refuses a personal key without `?token=`, in plain text. */
const serviceDefinitions: EndpointDocs = {
  ...definitions,
  replies: { ...definitions.replies, ...errorReplies(textShape, 400) },
};

const localEvaluation: EndpointDocs = {
  ...definitions,
  query: [
    tokenParameter,
    parameter("send_cohorts", "There: with cohorts; else flags with one simple cohort have its conditions"),
  ],
};

const remoteConfig: EndpointDocs = {
  query: [tokenParameter],
  replies: {
    ...answers("The payload, as JSON text in a JSON string; no body when there is none", text),
    ...serviceErrors(401, 403, 404),
  },
};

/** The rows about flags, by method and path. */
export const flagDocs: Readonly<Record<string, EndpointDocs>> = {
  "POST /flags": evaluation(flagsAnswer),
  "GET /flags": stub(flagsAnswer),
  "POST /decide": evaluation(decideAnswer),
  "GET /decide": stub(decideAnswer),
  "GET /flags/definitions": serviceDefinitions,
  "GET /api/feature_flag/local_evaluation": localEvaluation,
  "GET /api/projects/:project_id/feature_flags/local_evaluation": localEvaluation,
  "GET /api/projects/:project_id/feature_flags/:key/remote_config": remoteConfig,
};
