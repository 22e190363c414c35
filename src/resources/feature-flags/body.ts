import { z } from "zod";
import { boolean, choice, datetime, dictionary, integer, json, list, text } from "../fields.ts";

const keyPattern = /^[a-zA-Z0-9_-]+$/;

/** What may be written, in the order in which the service checks it. */
const fields = {
  name: text({ blank: true }).optional(),
  key: text({ max: 400 }).refine((key) => keyPattern.test(key), {
    params: {
      detail: "Only letters, numbers, hyphens (-) & underscores (_) are allowed.",
      code: "invalid_key",
    },
  }),
  filters: dictionary().optional(),
  deleted: boolean().optional(),
  active: boolean().optional(),
  created_at: datetime().optional(),
  /** The version that the caller knows; see `original_flag`. */
  version: integer().optional(),
  ensure_experience_continuity: boolean().nullable().optional(),
  tags: list(text()).optional(),
  /** Who made it; accepted, not kept. */
  creation_context: choice([
    "feature_flags",
    "experiments",
    "surveys",
    "early_access_features",
    "web_experiments",
  ]).optional(),
  is_remote_configuration: boolean().nullable().optional(),
  has_encrypted_payloads: boolean().nullable().optional(),
  evaluation_runtime: choice(["server", "client", "all"]).nullable().optional(),
  bucketing_identifier: choice(["distinct_id", "device_id"]).nullable().optional(),
  /** The flag as the caller saw it: a field that somebody else has changed since is a conflict. */
  original_flag: json().optional(),
};

export const FlagBody = z.object(fields);
export type FlagBody = z.infer<typeof FlagBody>;

export const FlagPatch = z.object({ ...fields, key: fields.key.optional() });
export type FlagPatch = z.infer<typeof FlagPatch>;
