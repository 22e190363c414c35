import { isUuid } from "../../base/ids.ts";
import { isObject, type Json, type JsonObject, own } from "../../base/json.ts";
import type { Found, Kind } from "./types.ts";

type Fits = (value: Json) => boolean;

type Rows = readonly (readonly [name: string, fits: Fits])[];

const text: Fits = (it) => typeof it === "string";
const filled: Fits = (it) => typeof it === "string" && it !== "";
const shortName: Fits = (it) => filled(it) && String(it).length <= 64;
const email: Fits = (it) => typeof it === "string" && /^[^\s@]+@[^\s@]+$/.test(it);
const yes: Fits = (it) => typeof it === "boolean";
const number: Fits = (it) => Number.isSafeInteger(it) && Number(it) > 0;
const record: Fits = (it) => isObject(it);
const texts: Fits = (it) => Array.isArray(it) && it.every(text);
const list: Fits = (it) => Array.isArray(it);
const uuid: Fits = (it) => isUuid(it);
const time: Fits = (it) =>
  typeof it === "string" &&
  /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(it) &&
  !Number.isNaN(Date.parse(it));
const any: Fits = () => true;
const oneOf =
  (...values: readonly Json[]): Fits =>
  (it) =>
    values.includes(it);
const orNull =
  (fits: Fits): Fits =>
  (it) =>
    it === null || fits(it);

/** What of a document goes into a scenario as it is, in this order. The scenario's schema has the last word. */
const rows: Readonly<Record<Kind, Rows>> = {
  users: [
    ["email", email],
    ["id", number],
    ["uuid", uuid],
    ["distinct_id", filled],
    ["first_name", text],
    ["last_name", text],
    ["role_at_organization", orNull(text)],
    ["is_email_verified", orNull(yes)],
    ["is_staff", yes],
    ["date_joined", time],
  ],
  organizations: [
    ["name", shortName],
    ["id", uuid],
    ["slug", filled],
    ["plugins_access_level", number],
    ["is_member_join_email_enabled", yes],
    ["enforce_2fa", orNull(yes)],
    ["allow_publicly_shared_resources", yes],
    ["created_at", time],
  ],
  projects: [
    ["id", number],
    ["uuid", uuid],
    ["name", filled],
    ["timezone", filled],
    ["is_demo", yes],
    ["created_at", time],
  ],
  dashboards: [
    ["name", orNull(text)],
    ["id", number],
    ["description", text],
    ["pinned", yes],
    ["tags", texts],
    ["restriction_level", oneOf(21, 37)],
    ["created_at", time],
    ["creation_mode", filled],
    ["filters", record],
    ["variables", orNull(record)],
    ["breakdown_colors", list],
    ["data_color_theme_id", orNull(number)],
    ["deleted", yes],
  ],
  insights: [
    ["name", filled],
    ["id", number],
    ["short_id", filled],
    ["derived_name", orNull(text)],
    ["description", orNull(text)],
    ["query", any],
    ["filters", record],
    ["tags", texts],
    ["favorited", yes],
    ["saved", yes],
    ["deleted", yes],
    ["created_at", time],
  ],
  feature_flags: [
    ["filters", record],
    ["id", number],
    ["name", text],
    ["active", yes],
    ["deleted", yes],
    ["version", number],
    ["ensure_experience_continuity", yes],
    ["has_encrypted_payloads", yes],
    ["is_remote_configuration", yes],
    ["evaluation_runtime", filled],
    ["bucketing_identifier", filled],
    ["evaluation_contexts", texts],
    ["tags", texts],
    ["created_at", time],
  ],
  cohorts: [
    ["name", filled],
    ["id", number],
    ["description", text],
    ["is_static", yes],
    ["deleted", yes],
    ["filters", record],
    ["query", any],
    ["created_at", time],
  ],
  batch_exports: [
    ["name", filled],
    ["id", uuid],
    ["model", filled],
    ["destination", record],
    ["interval", filled],
    ["paused", yes],
    ["last_paused_at", orNull(time)],
    ["start_at", orNull(time)],
    ["end_at", orNull(time)],
    ["hogql_query", orNull(text)],
    ["schema", orNull(record)],
    ["filters", orNull(list)],
    ["created_at", time],
  ],
  persons: [
    ["distinct_ids", texts],
    ["uuid", uuid],
    ["properties", record],
    ["created_at", time],
  ],
};

const runRows: Rows = [
  ["id", uuid],
  ["status", filled],
  ["data_interval_start", orNull(time)],
  ["data_interval_end", time],
  ["records_completed", any],
  ["records_total_count", any],
  ["bytes_exported", any],
  ["latest_error", orNull(text)],
  ["cursor", orNull(text)],
  ["created_at", time],
  ["finished_at", orNull(time)],
];

const tileRows: Rows = [
  ["id", number],
  ["layouts", record],
  ["color", orNull(text)],
  ["show_description", orNull(yes)],
  ["transparent_background", orNull(yes)],
];

const picked = (its: Rows, valueIn: (name: string) => Json | undefined): JsonObject =>
  Object.fromEntries(
    its.flatMap(([name, fits]) => {
      const value = valueIn(name);
      return value !== undefined && fits(value) ? [[name, value]] : [];
    }),
  );

/** The document's fields that a scenario has under the same names. */
export const authored = ({ kind, fields }: Pick<Found, "kind" | "fields">): JsonObject =>
  picked(rows[kind], (name) => fields.get(name));

/** A run of a batch export. */
export const authoredRun = (run: JsonObject): JsonObject => picked(runRows, (name) => own(run, name));

/** A tile, but for what is on it. */
export const authoredTile = (tile: JsonObject): JsonObject => picked(tileRows, (name) => own(tile, name));
