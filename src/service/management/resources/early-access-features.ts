import { z } from "zod";
import { isObject, type JsonObject, textIn } from "../../../kernel/base/json.ts";
import { boolean, choice, integer, json, text } from "../../../state/documents/lenient-fields.ts";
import { slugified } from "../../../state/documents/slug.ts";
import type { FeatureFlag, StoredResource } from "../../../state/documents/world.ts";
import { invalid } from "../../api-frame/fields.ts";
import type { Changing } from "../../api-frame/row.ts";
import {
  changeLinkedFlag,
  createNamedFlag,
  flagOfDocument,
  flagWithId,
  requireFlagScope,
  showLinkedFlag,
} from "../../flags/management/linked-flags.ts";
import { resourceKind, type Writing } from "./kind.ts";
import { siblingsOf } from "./resource-fields.ts";

/** Upstream PostHog/posthog products/early_access_features/backend/api.py, models.py. */

const stages = ["draft", "concept", "alpha", "beta", "general-availability", "archived"] as const;

/** Stages in which persons who opted in get the flag. Upstream: `EarlyAccessFeature.ActiveStage`. */
const activeStages: readonly unknown[] = ["alpha", "beta", "general-availability"];

/** Sets or clears the enrolment of the flag, and removes the older form of it. */
function enroll(changing: Changing, flag: FeatureFlag, feature_enrollment: true | null, others: JsonObject = {}) {
  requireFlagScope(changing);
  const { super_groups: _older, ...filters } = flag.filters as JsonObject;
  changeLinkedFlag(changing, flag, { filters: { groups: [], ...filters, feature_enrollment, ...others } });
}

/** @throws SimError for a flag that a feature cannot have */
function linkedFlag(id: number, writing: Writing): FeatureFlag {
  const flag = flagWithId(writing.desk, writing.request.project?.id ?? null, id);
  if (!flag) throw invalid("Feature Flag with this ID does not exist");
  const { key, filters } = flag;
  if (siblingsOf(writing, "early_access_features").some(({ fields }) => fields.feature_flag_id === id)) {
    throw invalid(`Linked feature flag ${key} already has a feature attached to it.`);
  }
  if ((filters.aggregation_group_type_index ?? null) !== null) {
    throw invalid("Group-based feature flags are not supported for Early Access Features.");
  }
  if ((filters.multivariate?.variants ?? []).length > 0) {
    throw invalid("Multivariate feature flags are not supported for Early Access Features.");
  }
  return flag;
}

const noRollout = { properties: [], rollout_percentage: 0, variant: null };

/** The flag of a new feature: an existing one, or one with the feature's name as its key. */
function flagOfNew(fields: JsonObject, writing: Writing): FeatureFlag {
  const isActive = activeStages.includes(fields.stage);
  const { feature_flag_id: id } = fields;
  if (typeof id === "number" && id !== 0) {
    const flag = linkedFlag(id, writing);
    if (isActive) enroll(writing, flag, true);
    return flag;
  }
  requireFlagScope(writing);
  const name = textIn(fields, "name");
  return createNamedFlag(writing, {
    key: slugified(name),
    name: `Feature Flag for Early Access Feature ${name}`,
    filters: { groups: [noRollout], ...(isActive && { feature_enrollment: true }) },
    active: true,
  });
}

function followStage(before: StoredResource, writing: Writing): void {
  const { body, desk } = writing;
  const { stage, rollout_to_all: isForAll } = body;
  const flag = flagOfDocument(desk, before.project, before.fields, before.fields.flagKey);
  if (stage === undefined || !flag) return;
  const isActive = activeStages.includes(stage);
  if (isForAll === true && stage === "general-availability" && before.fields.stage !== stage) {
    enroll(writing, flag, null, { groups: [{ properties: [], rollout_percentage: 100 }] });
  } else if (isActive && !activeStages.includes(before.fields.stage)) {
    enroll(writing, flag, true);
  } else if (!isActive) {
    enroll(writing, flag, null);
  }
}

function prepare(given: JsonObject, writing: Writing): JsonObject {
  const { before, body } = writing;
  const { rollout_to_all: _all, _create_in_folder: _folder, documentationUrl: older, ...own } = given;
  if (body.payload === null && !before) throw invalid("This field may not be null.", "payload", "null");
  const fields = { ...own, payload: own.payload || {} };
  if (!before) return { ...fields, feature_flag_id: flagOfNew(fields, writing).id };
  followStage(before, writing);
  const { feature_flag_id = null } = before.fields;
  const url = body.documentation_url ?? (own.documentation_url || older || "");
  return { ...fields, documentation_url: url, feature_flag_id };
}

const isAddress = (it: string): boolean => it === "" || /^(?:https?|ftps?):\/\/[^\s/]+\S*$/i.test(it);

const address = () =>
  text({ max: 800, blank: true }).pipe(z.string().refine(isAddress, { params: { detail: "Enter a valid URL." } }));

export const earlyAccessFeatures = resourceKind({
  kind: "early_access_features",
  noun: "early access feature",
  isOnlyStored: false,
  of: "project",
  scope: "early_access_feature",
  path: "early_access_feature",
  deletion: "hard",
  fields: {
    name: { write: text({ max: 200 }), required: true, blank: "", show: z.string(), author: z.string().optional() },
    description: { write: text({ blank: true }), blank: "" },
    stage: { write: choice(stages), required: true, blank: "beta", author: choice(stages).optional() },
    documentation_url: { write: address(), blank: "" },
    payload: { write: json(), blank: {} },
    feature_flag_id: { write: integer(), show: false },
    rollout_to_all: { write: boolean(), show: false },
    _create_in_folder: { write: text({ blank: true }), show: false },
    feature_flag: { show: z.looseObject({}).nullable() },
    user_access_level: { show: z.string() },
    // the form in which SDKs get them is taken, too
    flagKey: { author: z.string().nullable().optional(), show: false },
    documentationUrl: { author: z.string().nullable().optional(), show: false },
    assignee: { author: z.json().optional(), show: false },
  },
  stamps: ["created_at", "created_by"],
  prepare,
  show: (fields, { project }, desk) => ({
    feature_flag: showLinkedFlag(flagOfDocument(desk, project, fields, fields.flagKey)),
    documentation_url: fields.documentation_url || (fields.documentationUrl ?? ""),
    payload: isObject(fields.payload) ? fields.payload : {},
    user_access_level: "editor",
  }),
  beforeRemoval({ project, fields }, changing) {
    const flag = flagOfDocument(changing.desk, project, fields, fields.flagKey);
    if (flag) enroll(changing, flag, null);
  },
});
