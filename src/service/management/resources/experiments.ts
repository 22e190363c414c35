import { z } from "zod";
import { isObject, type JsonObject, objectsIn, textIn } from "../../../kernel/base/json.ts";
import { boolean, datetime, text } from "../../../state/documents/lenient-fields.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import { invalid } from "../../api-frame/fields.ts";
import {
  changeLinkedFlag,
  createNamedFlag,
  flagOfDocument,
  flagWithKey,
  showLinkedFlag,
} from "../../flags/management/linked-flags.ts";
import { resourceKind, type Writing } from "./kind.ts";
import { searchIn } from "./resource-fields.ts";

const usualVariants: JsonObject[] = [
  { key: "control", name: "Control Group", rollout_percentage: 50 },
  { key: "test", name: "Test Variant", rollout_percentage: 50 },
];

/** The flag with the key, or a new one, which is off until the experiment starts. @throws SimError invalid_input */
function flagOfNew(fields: JsonObject, writing: Writing): FeatureFlag {
  const key = textIn(fields, "feature_flag_key");
  const flag = flagWithKey(writing.desk, writing.request.project?.id ?? null, key);
  const sent = objectsIn(isObject(fields.parameters) ? fields.parameters.feature_flag_variants : []);
  const variants = sent.length > 0 ? sent : usualVariants;
  const used = flag ? (flag.filters.multivariate?.variants ?? []) : variants;
  if (used.length < 2 || !used.some((it) => it.key === "control")) {
    throw invalid("Feature flag must have at least 2 variants (control and at least one test variant)");
  }
  if (flag) return flag;
  return createNamedFlag(writing, {
    key,
    name: `Feature Flag for Experiment ${textIn(fields, "name")}`,
    filters: { groups: [{ properties: [], rollout_percentage: 100 }], multivariate: { variants } },
    active: Boolean(fields.start_date),
  });
}

/** The flag is created with the experiment, and switched on when it starts. @throws SimError invalid_input */
function prepare(given: JsonObject, writing: Writing): JsonObject {
  const { feature_flag_key: _key, ...fields } = given;
  const { before, body, desk } = writing;
  if (!before) return { ...fields, feature_flag_id: flagOfNew(given, writing).id };
  const { feature_flag_key: key = null, start_date } = before.fields;
  const flag = flagOfDocument(desk, before.project, before.fields, key);
  if (body.feature_flag_key !== undefined && body.feature_flag_key !== (flag?.key ?? key)) {
    throw invalid("Can't update keys: get_feature_flag_key on Experiment");
  }
  if (flag && !start_date && body.start_date) changeLinkedFlag(writing, flag, { active: true });
  return { ...fields, ...(flag ? { feature_flag_id: flag.id } : { feature_flag_key: key }) };
}

/**
 * Experiments: a document with a flag; what else clients send is kept. Upstream PostHog/posthog
 * products/experiments/backend/experiment_service.py.
 */
export const experiments = resourceKind({
  kind: "experiments",
  noun: "experiment",
  isOnlyStored: false,
  isLoose: true,
  of: "project",
  scope: "experiment",
  key: "number",
  deletion: "restore",
  fields: {
    name: { write: text({ max: 400 }), required: true, blank: "" },
    feature_flag_key: { write: text(), required: true },
    start_date: { write: datetime().nullable(), blank: null },
    end_date: { write: datetime().nullable(), blank: null },
    archived: { blank: false },
    deleted: { write: boolean(), blank: false },
    saved_metrics_ids: { blank: null },
    feature_flag_id: { show: false },
    feature_flag: { show: z.looseObject({}).optional() },
    status: { show: z.enum(["draft", "running", "paused", "stopped"]) },
  },
  stamps: ["created_at", "created_by", "updated_at"],
  filters: [searchIn("name")],
  // web experiments of a scenario may have another kind of id
  narrow: (documents) => documents.filter((it) => typeof it.key === "number"),
  prepare,
  show(fields, { project }, desk) {
    const { feature_flag_key: key = "", start_date: start, end_date: end } = fields;
    const flag = flagOfDocument(desk, project, fields, key);
    const status = end ? "stopped" : flag?.active === false ? "paused" : "running";
    return {
      feature_flag_key: flag?.key ?? key,
      // clients' schemas take no null
      ...(flag && { feature_flag: showLinkedFlag(flag) }),
      status: start ? status : "draft",
    };
  },
});
