import { isObject, type Json, type JsonObject, own } from "../../base/json.ts";
import { hasKnownRules } from "../../world/flag-config.ts";
import { authored, authoredRun, authoredTile } from "./fields.ts";
import type { Notes } from "./notes.ts";
import type { AnsweredFlag, Found } from "./types.ts";

const listOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const idIn = (it: JsonObject): string => String(own(it, "id") ?? "");

/** Who made it, where the scenario knows that user. */
function authorOf(it: Found, users: ReadonlySet<string>): JsonObject {
  const by = it.fields.get("created_by");
  if (by === null) return { created_by: null };
  const email = isObject(by) ? own(by, "email") : undefined;
  return typeof email === "string" && users.has(email) ? { created_by: email } : {};
}

/** Names by id: tiles call insights by name, so that no two may have the same one. */
function namesOf(insights: readonly Found[]): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    insights.map(({ id, fields }) => {
      const given = String(fields.get("name") || fields.get("derived_name") || `Insight ${id}`);
      const name = taken.has(given) ? `${given} (${id})` : given;
      taken.add(name);
      return [id, name];
    }),
  );
}

/** Insights, and the dashboards that they are on. */
export function boardsOf(
  dashboards: readonly Found[],
  insights: readonly Found[],
  users: ReadonlySet<string>,
  notes: Notes,
): { insights: JsonObject[]; dashboards: JsonObject[] } {
  const names = namesOf(insights);
  return {
    insights: insights.map((it) => {
      const name = names.get(it.id) ?? it.id;
      const made = { ...authored(it), name, ...authorOf(it, users) };
      if (it.fields.get("name") !== name) notes.note(made, "name", "inferred: tiles call it by its name");
      return made;
    }),
    dashboards: dashboards.map((it) => ({
      ...authored(it),
      ...authorOf(it, users),
      ...tilesOf(it, names),
    })),
  };
}

function tilesOf(dashboard: Found, names: ReadonlyMap<string, string>): JsonObject {
  const tiles = listOf(dashboard.fields.get("tiles")).flatMap((tile) => tileOf(tile, names));
  return tiles.length > 0 ? { tiles } : {};
}

function tileOf(tile: JsonObject, names: ReadonlyMap<string, string>): JsonObject[] {
  const insight = own(tile, "insight");
  const name = isObject(insight) ? names.get(idIn(insight)) : undefined;
  if (name !== undefined) return [{ ...authoredTile(tile), insight: name }];
  const text = own(tile, "text");
  const body = isObject(text) ? own(text, "body") : undefined;
  return typeof body === "string" ? [{ ...authoredTile(tile), text: body }] : [];
}

/** Flags by key: as defined, and as answered where the tape has no definition that the sim can evaluate. */
export function flagsOf(
  defined: readonly Found[],
  answered: ReadonlyMap<string, AnsweredFlag>,
  notes: Notes,
): JsonObject {
  const flags = new Map<string, Json>();
  for (const it of defined) {
    const key = it.fields.get("key");
    const flag = authored(it);
    if (typeof key !== "string" || key === "" || !Object.hasOwn(flag, "filters")) continue;
    const isReadable = !isObject(flag.filters) || hasKnownRules(flag.filters);
    if (isReadable || !answered.has(key)) flags.set(key, flag);
  }
  const inferred = [...answered].filter(([key]) => !flags.has(key));
  for (const [key, it] of inferred) flags.set(key, asAnswered(it));
  const object: JsonObject = Object.fromEntries(flags);
  for (const [key, { varies }] of inferred)
    notes.note(
      object,
      key,
      varies
        ? "inferred: the first of several different answers; the tape has no rules that can be evaluated"
        : "inferred: what everybody was answered; the tape has no rules that can be evaluated",
    );
  return object;
}

/** The short form that answers the same to everybody. */
function asAnswered({ value, payload }: AnsweredFlag): Json {
  const name = typeof value === "string" ? value : "true";
  const payloads: JsonObject =
    payload === undefined ? {} : { payloads: Object.fromEntries([[name, payload]]) };
  if (typeof value === "string") return { variants: Object.fromEntries([[value, 100]]), ...payloads };
  return value && payload !== undefined ? { rollout: 100, ...payloads } : value;
}

/** Batch exports with what was seen of their runs. */
export const exportsOf = (found: readonly Found[], notes: Notes): JsonObject[] =>
  found.map((it) => {
    const runs = listOf(it.fields.get("latest_runs")).map(authoredRun);
    const made: JsonObject = { ...authored(it), ...(runs.length > 0 && { runs }) };
    if (Object.hasOwn(made, "destination"))
      notes.note(made, "destination", "its secrets are not on the tape");
    return made;
  });

export function cohortsOf(found: readonly Found[], notes: Notes): JsonObject[] {
  return found.map((it) => {
    const made: JsonObject = { name: `Cohort ${it.id}`, ...authored(it) };
    if (!it.fields.get("name")) notes.note(made, "name", "inferred: the tape has its number only");
    return made;
  });
}
