import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { isObject, type Json, type JsonObject, objectsIn, own } from "../../../kernel/base/json.ts";
import { problemsOfRules } from "../../../service/flags/engine/rule-config.ts";
import { Email } from "../../../state/documents/field-kinds.ts";
import { rulesVersionOf } from "../../../state/documents/flag-config.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import { removeInvalidParts } from "../remove-invalid-parts.ts";
import type { Scenario } from "../schema.ts";
import { schemaPath } from "../starter.ts";
import { authored, authoredRun, authoredTile, insightNames } from "./authored-fields.ts";
import { type DocumentKind, type Found, groupTypesIn, projectKinds, TapeDocuments } from "./documents.ts";
import { type FlagAnswer, FlagAnswers } from "./flag-answers.ts";
import { createKeyRing, type KeyRing } from "./project-keys.ts";

export interface TapeScenario {
  readonly scenario: Scenario;
  readonly keys: ReadonlyMap<string, string>;
  /** Parts that the scenario does not have, a line each. */
  readonly leftOut: readonly string[];
  readonly exchanges: number;
  /** The start of the first exchange, ISO 8601; undefined without exchanges. */
  readonly firstAt: string | undefined;
}

/**
 * Makes a scenario of what the answers on a tape show of the time before its first exchange, to send the requests
 * again: organizations, projects, dashboards with tiles, insights, flags, cohorts, persons, batch exports, ids kept.
 * It passes `scenario check`; parts that do not are removed and listed. Memory is bounded by the number of documents,
 * not by the tape. The exchanges must have their bodies.
 */
export async function scenarioFromTape(exchanges: AsyncIterable<Exchange> | Iterable<Exchange>): Promise<TapeScenario> {
  const documents = new TapeDocuments();
  const ring = createKeyRing();
  const answers = new FlagAnswers();
  const groupTypes = new Map<string, readonly string[]>();
  let count = 0;
  let firstAt: string | undefined;
  for await (const exchange of exchanges) {
    count++;
    firstAt ??= exchange.at;
    ring.see(exchange);
    answers.see(exchange);
    documents.see(exchange);
    const groups = groupTypesIn(exchange);
    if (groups) groupTypes.set(groups.project, groups.types);
  }
  const { scenario, keys } = authorScenario({ documents, ring, answers, groupTypes });
  const leftOut = (await removeInvalidParts(scenario)).map(({ place, message }) => `${place}: ${message}`);
  if (documents.dropped > 0) leftOut.push(`${documents.dropped} documents: there are too many`);
  return { scenario: scenario as Scenario, keys, leftOut, exchanges: count, firstAt };
}

interface Collected {
  readonly documents: TapeDocuments;
  readonly ring: KeyRing;
  readonly answers: FlagAnswers;
  /** By project: its number, or its key. */
  readonly groupTypes: ReadonlyMap<string, readonly string[]>;
}

interface Context extends Collected {
  readonly keys: Map<string, string>;
  readonly emails: ReadonlySet<string>;
  /** Documents of projects, by kind and project. */
  readonly contents: ReadonlyMap<string, Found[]>;
}

/** Makes a scenario of the documents on a tape. @returns also its keys by their placeholders on the tape */
function authorScenario(collected: Collected): { scenario: JsonObject; keys: Map<string, string> } {
  const { documents, ring } = collected;
  const keys = new Map<string, string>();
  const users = documents
    .all("users")
    .map(authored)
    .filter(({ email }) => Email.safeParse(email).success);
  const emails = new Set(users.map(({ email }) => String(email)));
  const slots = slotsOf(documents, ring);
  const found = projectKinds.flatMap((kind) => documents.all(kind));
  const contents = groupedBy(found, (it) => placeOf(it.kind, it.project));
  const context: Context = { ...collected, keys, emails, contents };
  const projects = slots.map((slot, i) => ({ slot, made: projectOf(slot, i, context) }));
  const scenario: JsonObject = {
    $schema: schemaPath,
    version: 1,
    ...(users.length > 0 && { users }),
    organizations: organizationsOf(documents.all("organizations"), projects),
    personal_api_keys: personalKeys(ring, keys),
  };
  return { scenario, keys };
}

interface Slot {
  /** Its number as text; undefined if the tape has only its key. */
  readonly id: string | undefined;
  readonly document: Found | undefined;
  readonly placeholders: string[];
}

const isNumber = (id: string | undefined): id is string => id !== undefined && /^\d{1,15}$/.test(id);

/** The projects of a tape: those that it shows, those of its documents, and those of its keys; at least one. */
function slotsOf(documents: TapeDocuments, ring: KeyRing): Slot[] {
  const slots = new Map<string, Slot>();
  const slotOf = (id: string, document?: Found): Slot => {
    const slot = slots.get(id) ?? { id, document, placeholders: [] };
    slots.set(id, slot);
    return slot;
  };
  for (const it of documents.all("projects"))
    if (isNumber(it.id)) {
      const token = it.fields.get("api_token");
      const { placeholders } = slotOf(it.id, it);
      if (typeof token === "string" && token !== "") placeholders.push(token);
    }
  for (const { project } of projectKinds.flatMap((kind) => documents.all(kind))) if (isNumber(project)) slotOf(project);
  for (const { text, project } of ring.all("project"))
    if (isNumber(project)) {
      const { placeholders } = slotOf(project);
      if (!placeholders.includes(text)) placeholders.push(text);
    }
  const found = withLooseKeys([...slots.values()], ring);
  return found.length > 0 ? found : [{ id: undefined, document: undefined, placeholders: [] }];
}

/** Keys without a project in any answer: one for each project without a key, in order; the rest are own projects. */
function withLooseKeys(slots: Slot[], ring: KeyRing): Slot[] {
  const tied = new Set(slots.flatMap(({ placeholders }) => placeholders));
  const loose = ring.all("project").filter(({ text, accepted }) => accepted && !tied.has(text));
  const free = slots.filter(({ placeholders }) => placeholders.length === 0);
  const added: Slot[] = [];
  for (const [i, { text }] of loose.entries()) {
    const slot = free[i] ?? { id: undefined, document: undefined, placeholders: [] };
    slot.placeholders.push(text);
    if (!free[i]) added.push(slot);
  }
  return [...slots, ...added];
}

/** `@current` and missing numbers have no project yet; they count for the first one. */
const placeOf = (kind: DocumentKind, project: string | undefined): string =>
  `${kind} ${project !== undefined && /^\d+$/.test(project) ? project : ""}`;

function projectOf(slot: Slot, i: number, context: Context): JsonObject {
  const { keys, answers, groupTypes, contents } = context;
  const of = (kind: DocumentKind): Found[] => [
    ...(contents.get(placeOf(kind, slot.id)) ?? []),
    ...(i === 0 ? (contents.get(placeOf(kind, undefined)) ?? []) : []),
  ];
  const seen = slot.placeholders[0];
  // a key that is not redacted stays
  const api_key = seen !== undefined && /^phc_[\w-]{1,60}$/.test(seen) ? seen : `phc_tape_${i + 1}`;
  for (const text of slot.placeholders) keys.set(text, api_key);
  const flags = flagsOf(of("feature_flags"), answers.of(slot.placeholders));
  const types = [slot.id ?? "", ...slot.placeholders].map((it) => groupTypes.get(it)).find(Boolean);
  const persons = of("persons")
    .map(authored)
    .filter(({ distinct_ids }) => Array.isArray(distinct_ids) && distinct_ids.length > 0);
  const lists: Record<string, Json[]> = {
    cohorts: cohortsOf(of("cohorts")),
    persons,
    ...boardsOf(of("dashboards"), of("insights"), context),
    batch_exports: exportsOf(of("batch_exports")),
  };
  return {
    ...(slot.id !== undefined && { id: Number(slot.id) }),
    name: `Project ${slot.id ?? i + 1}`,
    ...(slot.document && authored(slot.document)),
    api_key,
    ...(types && { group_types: [...types] }),
    ...(Object.keys(flags).length > 0 && { flags }),
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
  };
}

interface Placed {
  readonly slot: Slot;
  readonly made: JsonObject;
}

function organizationsOf(found: readonly Found[], projects: readonly Placed[]): JsonObject[] {
  const known = found.filter((it) => Object.hasOwn(authored(it), "name"));
  if (known.length === 0) return [{ name: "Recorded organization", projects: projects.map((it) => it.made) }];
  const ids = new Set(known.map(({ id }) => id));
  const home = ({ slot }: Placed): string => {
    const named = slot.document?.fields.get("organization_id") ?? slot.document?.fields.get("organization");
    return typeof named === "string" && ids.has(named) ? named : (known[0]?.id ?? "");
  };
  return known.map((it, i) => {
    const its = projects.filter((project) => home(project) === it.id).map(({ made }) => made);
    return {
      ...authored(it),
      ...featuresOf(it),
      projects: its.length > 0 ? its : [{ name: "Empty project", api_key: `phc_tape_empty_${i + 1}` }],
    };
  });
}

/** Scenarios name bought features by their keys. */
function featuresOf({ fields }: Found): JsonObject {
  const bought = fields.get("available_product_features");
  if (bought === null) return { available_product_features: null };
  if (!Array.isArray(bought)) return {};
  const keys = bought.map((it) => (isObject(it) ? own(it, "key") : it));
  return { available_product_features: keys.filter((it) => typeof it === "string") };
}

/** Keys that were refused every time stay unknown. */
function personalKeys(ring: KeyRing, keys: Map<string, string>): JsonObject[] {
  const seen = ring.all("personal").filter(({ text }) => !keys.has(text));
  for (const [i, { text, accepted }] of seen.entries())
    keys.set(text, accepted ? `phx_tape_${i + 1}` : `phx_tape_refused_${i + 1}`);
  const accepted = seen.filter((it) => it.accepted).map(({ text }) => keys.get(text) ?? "");
  return (accepted.length > 0 ? accepted : ["phx_tape_1"]).map((key) => ({ key, scopes: ["*"] }));
}

/** The author, if the scenario has that user. */
function authorOf(it: Found, emails: ReadonlySet<string>): JsonObject {
  const by = it.fields.get("created_by");
  if (by === null) return { created_by: null };
  const email = isObject(by) ? own(by, "email") : undefined;
  return typeof email === "string" && emails.has(email) ? { created_by: email } : {};
}

function boardsOf(dashboards: readonly Found[], insights: readonly Found[], { emails }: Context) {
  const names = insightNames(insights.map(({ id, fields }) => ({ ...Object.fromEntries(fields), id })));
  return {
    insights: insights.map((it) => ({ ...authored(it), name: names.get(it.id) ?? it.id, ...authorOf(it, emails) })),
    dashboards: dashboards.map((it) => {
      const tiles = objectsIn(it.fields.get("tiles")).flatMap((tile) => authoredTile(tile, names) ?? []);
      return { ...authored(it), ...authorOf(it, emails), ...(tiles.length > 0 && { tiles }) };
    }),
  };
}

/** True for rules that a scenario may have. */
function canBeRead(filters: JsonObject): boolean {
  const version = rulesVersionOf(filters);
  return version === 1 || (version === 2 && problemsOfRules(filters).length === 0);
}

/** Flags by key: as defined, or as answered if the tape has no definition that the sim can evaluate. */
function flagsOf(defined: readonly Found[], answered: ReadonlyMap<string, FlagAnswer>): JsonObject {
  const flags = new Map<string, Json>();
  for (const it of defined) {
    const key = it.fields.get("key");
    const flag = authored(it);
    if (typeof key !== "string" || key === "" || !Object.hasOwn(flag, "filters")) continue;
    const isReadable = !isObject(flag.filters) || canBeRead(flag.filters);
    if (isReadable || !answered.has(key)) flags.set(key, flag);
  }
  for (const [key, it] of answered) if (!flags.has(key)) flags.set(key, asAnswered(it));
  return Object.fromEntries(flags);
}

/** The short form with the same answer for all persons. */
function asAnswered({ value, payload }: FlagAnswer): Json {
  const name = typeof value === "string" ? value : "true";
  const payloads: JsonObject = payload === undefined ? {} : { payloads: Object.fromEntries([[name, payload]]) };
  if (typeof value === "string") return { variants: Object.fromEntries([[value, 100]]), ...payloads };
  return value && payload !== undefined ? { rollout: 100, ...payloads } : value;
}

const exportsOf = (found: readonly Found[]): JsonObject[] =>
  found.map((it) => {
    const runs = objectsIn(it.fields.get("latest_runs")).map(authoredRun);
    return { ...authored(it), ...(runs.length > 0 && { runs }) };
  });

const cohortsOf = (found: readonly Found[]): JsonObject[] =>
  found.map((it) => ({ name: `Cohort ${it.id}`, ...authored(it) }));
