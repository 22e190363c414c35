import { isObject, type Json, type JsonObject, own } from "../../base/json.ts";
import type { createAnsweredFlags } from "./answered-flags.ts";
import { authored } from "./fields.ts";
import type { createFold } from "./fold.ts";
import type { KeyRing } from "./keys.ts";
import type { Notes } from "./notes.ts";
import { boardsOf, cohortsOf, exportsOf, flagsOf } from "./project-parts.ts";
import { contentKinds, type Slot, slotsOf } from "./projects.ts";
import type { Found, Kind } from "./types.ts";

/** What was collected of a tape. */
export interface Collected {
  fold: ReturnType<typeof createFold>;
  ring: KeyRing;
  answered: ReturnType<typeof createAnsweredFlags>;
  /** By project: its number, or its key. */
  groupTypes: ReadonlyMap<string, readonly string[]>;
}

export interface Authored {
  scenario: JsonObject;
  keys: Map<string, string>;
  notes: Notes;
}

/** Where editors find the schema in a project that has phx-sim installed. */
const schemaPath = "./node_modules/phx-sim/scenarios/scenario.schema.json";

/** Keys in plain stay as they are; what is no key of a project gets one. */
const simKey = (seen: string | undefined, made: string): string =>
  seen !== undefined && /^phc_[\w-]{1,60}$/.test(seen) ? seen : made;

/** A scenario of what a tape shows. */
export function authorScenario(collected: Collected, notes: Notes): Authored {
  const { fold, ring } = collected;
  const keys = new Map<string, string>();
  const users = fold
    .all("users")
    .map(authored)
    .filter(({ email }) => email !== undefined);
  const emails = new Set(users.map(({ email }) => String(email)));
  const slots = slotsOf(fold, ring);
  if (slots.length === 0) slots.push({ id: undefined, document: undefined, placeholders: [], isGuess: true });
  const around = { ...collected, notes, keys, emails, contents: contentsOf(fold) };
  const projects = slots.map((slot, i) => ({ slot, made: projectOf(slot, i, around) }));
  const scenario: JsonObject = {
    $schema: schemaPath,
    version: 1,
    ...(users.length > 0 && { users }),
    organizations: organizationsOf(fold.all("organizations"), projects, notes),
    personal_api_keys: personalKeys(ring, keys, notes),
  };
  return { scenario, keys, notes };
}

interface Around extends Collected {
  notes: Notes;
  keys: Map<string, string>;
  emails: ReadonlySet<string>;
  /** What projects have, by kind and project. */
  contents: ReadonlyMap<string, Found[]>;
}

/** What a path calls `@current`, and what comes without a number, has no place yet: it is the first project's. */
const placeOf = (kind: Kind, project: string | undefined): string =>
  `${kind} ${project !== undefined && /^\d+$/.test(project) ? project : ""}`;

function contentsOf(fold: Collected["fold"]): Map<string, Found[]> {
  const contents = new Map<string, Found[]>();
  for (const it of contentKinds.flatMap(fold.all)) {
    const place = placeOf(it.kind, it.project);
    const there = contents.get(place);
    if (there) there.push(it);
    else contents.set(place, [it]);
  }
  return contents;
}

function projectOf(slot: Slot, i: number, around: Around): JsonObject {
  const { notes, keys, emails, answered, groupTypes, contents } = around;
  const of = (kind: Kind): Found[] => [
    ...(contents.get(placeOf(kind, slot.id)) ?? []),
    ...(i === 0 ? (contents.get(placeOf(kind, undefined)) ?? []) : []),
  ];
  const api_key = simKey(slot.placeholders[0], `phc_tape_${i + 1}`);
  for (const text of slot.placeholders) keys.set(text, api_key);
  const flags = flagsOf(of("feature_flags"), mergedAnswers(slot, answered), notes);
  const types = [slot.id ?? "", ...slot.placeholders].map((it) => groupTypes.get(it)).find(Boolean);
  const persons = of("persons")
    .map(authored)
    .filter(({ distinct_ids }) => Array.isArray(distinct_ids) && distinct_ids.length > 0);
  const made: JsonObject = {
    ...(slot.id !== undefined && { id: Number(slot.id) }),
    name: `Project ${slot.id ?? i + 1}`,
    ...(slot.document && authored(slot.document)),
    api_key,
    ...(types && { group_types: [...types] }),
    ...(Object.keys(flags).length > 0 && { flags }),
    ...filled({ cohorts: cohortsOf(of("cohorts"), notes), persons }),
    ...filled({ ...boardsOf(of("dashboards"), of("insights"), emails, notes) }),
    ...filled({ batch_exports: exportsOf(of("batch_exports"), notes) }),
  };
  if (!slot.document?.fields.has("name"))
    notes.note(made, "name", "inferred: the tape does not have its name");
  if (slot.isGuess) notes.note(made, "api_key", "inferred: the tape does not say whose key this is");
  else if (slot.placeholders.length === 0)
    notes.note(made, "api_key", "inferred: its key is not on the tape");
  return made;
}

const filled = (lists: Readonly<Record<string, Json[]>>): JsonObject =>
  Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));

const mergedAnswers = ({ placeholders }: Slot, answered: Collected["answered"]) =>
  new Map(placeholders.flatMap((it) => [...answered.of(it)]));

interface Placed {
  slot: Slot;
  made: JsonObject;
}

/** Every project is in an organization, and none is without one. */
function organizationsOf(found: readonly Found[], projects: readonly Placed[], notes: Notes): JsonObject[] {
  const known = found.filter((it) => Object.hasOwn(authored(it), "name"));
  if (known.length === 0) {
    const made: JsonObject = { name: "Recorded organization", projects: projects.map((it) => it.made) };
    notes.note(made, "name", "inferred: the tape shows no organization");
    return [made];
  }
  const ids = new Set(known.map(({ id }) => id));
  const home = ({ slot }: Placed): string => {
    const named = slot.document?.fields.get("organization_id") ?? slot.document?.fields.get("organization");
    return typeof named === "string" && ids.has(named) ? named : (known[0]?.id ?? "");
  };
  return known.map((it, i) => {
    const its = projects.filter((project) => home(project) === it.id).map(({ made }) => made);
    const made: JsonObject = {
      ...authored(it),
      ...featuresOf(it),
      projects: its.length > 0 ? its : [{ name: "Empty project", api_key: `phc_tape_empty_${i + 1}` }],
    };
    if (its.length === 0)
      notes.note(made, "projects", "inferred: the tape shows none, but an organization has one at least");
    return made;
  });
}

/** Scenarios name what was bought by its key. */
function featuresOf({ fields }: Found): JsonObject {
  const bought = fields.get("available_product_features");
  if (bought === null) return { available_product_features: null };
  if (!Array.isArray(bought)) return {};
  const keys = bought.map((it) => (isObject(it) ? own(it, "key") : it));
  return { available_product_features: keys.filter((it) => typeof it === "string") };
}

/** Keys that were refused every time stay unknown. */
function personalKeys(ring: KeyRing, keys: Map<string, string>, notes: Notes): JsonObject[] {
  const seen = ring.all("personal").filter(({ text }) => !keys.has(text));
  for (const [i, { text, accepted }] of seen.entries())
    keys.set(text, accepted ? `phx_tape_${i + 1}` : `phx_tape_refused_${i + 1}`);
  const accepted = seen.filter((it) => it.accepted).map(({ text }) => keys.get(text) ?? "");
  const made: JsonObject[] = (accepted.length > 0 ? accepted : ["phx_tape_1"]).map((key) => ({
    key,
    scopes: ["*"],
  }));
  for (const it of made) notes.note(it, "scopes", "inferred: what the key may do is not on the tape");
  return made;
}
