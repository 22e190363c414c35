import {
  isObject,
  type Json,
  type JsonObject,
  objectsIn,
  own,
  stepsOf,
  textsIn,
  valueAt,
} from "../../kernel/base/json.ts";
import { authoredTile, insightNames } from "../../lab/scenario/from-tape/authored-fields.ts";
import { readScenario } from "../../lab/scenario/load.ts";
import { removeInvalidParts } from "../../lab/scenario/remove-invalid-parts.ts";
import type { ScenarioLayer } from "../../lab/scenario/schema.ts";
import { schemaPath } from "../../lab/scenario/starter.ts";
import type { TapeRules } from "../../lab/tapes/redact/rules.ts";
import { maxGroupTypes } from "../../state/persons/person.ts";
import { isHeld, type LiveKind, liveKinds } from "./kinds.ts";
import { createCleaner, type Redacted } from "./redaction.ts";
import { type Service, ServiceError } from "./service.ts";

/** Documents of a live project by the lists of scenarios, as the service shows them. */
export interface LiveProject {
  readonly project: JsonObject;
  /** Names of group types, by their index. */
  readonly groupTypes: readonly string[];
  readonly documents: ReadonlyMap<string, readonly JsonObject[]>;
  readonly remoteConfig: JsonObject;
  /** Kinds whose lists the service does not have. */
  readonly notOffered: readonly string[];
}

const mostAtOnce = 2;

/** Reads a project: settings, lists, remote config. Only GET, never persons or events. @throws ServiceError */
export async function readLive(
  service: Service,
  id: string,
  kinds: readonly LiveKind[] = liveKinds,
): Promise<LiveProject> {
  const root = `/api/projects/${encodeURIComponent(id)}`;
  const project = await service.read(`${root}/`);
  if (project === undefined) throw new ServiceError("order", `there is no project ${id} that the key may read (404)`);
  if (!isObject(project) || typeof own(project, "api_token") !== "string")
    throw new ServiceError("service", `${root}/ did not answer with a project`);
  const groupTypes = await groupTypesOf(service, root, project);
  const documents = new Map<string, JsonObject[]>();
  const notOffered: string[] = [];
  for (const kind of kinds) {
    const found = await documentsOf(service, root, kind, groupTypes.length);
    if (found === undefined) notOffered.push(kind.path);
    else documents.set(kind.list, found);
  }
  addLinkedFlags(documents);
  const config = await service.read(`/array/${encodeURIComponent(String(project.api_token))}/config`, true);
  if (config === undefined) notOffered.push("remote_config");
  return { project, groupTypes, documents, remoteConfig: isObject(config) ? config : {}, notOffered };
}

/** The project has them; older services have them in a list of their own. */
async function groupTypesOf(service: Service, root: string, project: JsonObject): Promise<string[]> {
  const shown = own(project, "group_types");
  const types = Array.isArray(shown) ? shown : await service.read(`${root}/groups_types/`);
  const names = new Map(
    objectsIn(types)
      .map((it) => [Number(it.group_type_index), String(it.group_type)] as const)
      .filter(([index]) => Number.isInteger(index) && index >= 0 && index < maxGroupTypes),
  );
  // flags name types by index, so that a removed type leaves its place
  return Array.from({ length: Math.max(-1, ...names.keys()) + 1 }, (_, i) => names.get(i) ?? `removed_${i}`);
}

async function documentsOf(
  service: Service,
  root: string,
  { path, queries = [""], whole }: LiveKind,
  groupTypes: number,
): Promise<JsonObject[] | undefined> {
  const found: JsonObject[] = [];
  for (const query of queries) {
    const index = /group_type_index=(\d)/.exec(query)?.[1];
    if (index !== undefined && Number(index) >= groupTypes) continue;
    const items = await service.list(`${root}/${path}/?limit=100${query === "" ? "" : `&${query}`}`);
    if (items === undefined) return undefined;
    const type = new URLSearchParams(query).get("type");
    found.push(
      ...items.map((it) => ({
        ...it,
        ...(type !== null && { type }),
        ...(index !== undefined && { group_type_index: Number(index) }),
      })),
    );
  }
  const all = byId(found);
  if (!whole) return all;
  const documents: JsonObject[] = [];
  for (let at = 0; at < all.length; at += mostAtOnce) {
    const some = all.slice(at, at + mostAtOnce);
    const read = await Promise.all(some.map((it) => service.read(`${root}/${path}/${String(it.id)}/`)));
    // one that was deleted in between is gone
    documents.push(...read.filter(isObject));
  }
  return documents;
}

/** By creation, so that a new document is the last one; stand-ins then keep their numbers. */
const byId = (documents: readonly JsonObject[]): JsonObject[] =>
  [...documents].sort((a, b) =>
    typeof a.id === "number" && typeof b.id === "number"
      ? a.id - b.id
      : String(a.name ?? a.id).localeCompare(String(b.name ?? b.id), "en"),
  );

const flagFields = ["feature_flag", "linked_flag", "targeting_flag", "internal_targeting_flag"];

/** The list of flags is without those that surveys created; the surveys show them. */
function addLinkedFlags(documents: Map<string, JsonObject[]>): void {
  const flags = documents.get("flags");
  if (flags === undefined) return;
  const known = new Set(flags.map(({ key }) => key));
  for (const list of ["surveys", "early_access_features"])
    for (const document of documents.get(list) ?? [])
      for (const name of flagFields) {
        const flag = own(document, name);
        if (!isObject(flag) || typeof flag.key !== "string" || known.has(flag.key)) continue;
        if (!isObject(flag.filters) || flag.deleted === true) continue;
        known.add(flag.key);
        flags.push(flag);
      }
}

/** A document that the file does not have, or a part of one. */
export interface LeftOut {
  readonly kind: string;
  readonly id: string;
  readonly why: string;
}

export interface PulledScenario {
  readonly scenario: JsonObject;
  readonly counts: Readonly<Record<string, number>>;
  readonly redacted: readonly Redacted[];
  readonly leftOut: readonly LeftOut[];
  /** What the file has and the sim does differently. */
  readonly warnings: readonly LeftOut[];
  readonly notOffered: readonly string[];
}

export interface PullOptions {
  /** Values that are not redacted. */
  readonly keep?: readonly string[] | undefined;
  readonly rules?: TapeRules | undefined;
}

/** The remote config follows from the rest, or has code. */
const derivedConfig = /^(?:token|hasFeatureFlags|surveys|productTours|siteApps|siteAppsJS|supportedCompression)$/;

/** Settings that decide what the sim answers or stores; those that are off are left out. */
const carriedSettings = [
  ...["session_recording_opt_in", "session_recording_trigger_groups", "minimal_flag_called_events"],
  ...["flags_v3_response_enabled", "property_matching_version", "anonymize_ips", "cookieless_server_hash_mode"],
];

const settingsOf = (project: JsonObject): JsonObject =>
  Object.fromEntries(
    carriedSettings.flatMap((name): [string, Json][] => {
      const value = own(project, name);
      return value ? [[name, value]] : [];
    }),
  );

/** Makes a scenario that passes `scenario check`; what it cannot hold is listed. @throws ServiceError */
export async function pulledScenarioOf(live: LiveProject, { keep, rules }: PullOptions = {}): Promise<PulledScenario> {
  const cleaner = createCleaner(keep, rules);
  const leftOut: LeftOut[] = [];
  const { project } = live;
  const { name } = cleaner.clean({ name: String(project.name || `Project ${String(project.id)}`) }, "project") ?? {};
  const lists: JsonObject = {};
  const names = insightNames(live.documents.get("insights") ?? []);
  for (const kind of liveKinds) {
    const documents = live.documents.get(kind.list);
    if (documents === undefined || documents.length === 0) continue;
    if (!isHeld(kind)) {
      const why = "scenarios do not hold this kind";
      leftOut.push(...documents.map((it) => ({ kind: kind.noun, id: nameOf(it), why })));
      continue;
    }
    const made = documents.flatMap((document): [string, JsonObject][] => {
      leftOut.push(...notesOn(kind, document));
      const id = nameOf(document);
      const safe = cleaner.clean(authoredDocument(kind, document, names), `${kind.list}.${id}`);
      if (safe) return [[id, safe]];
      leftOut.push({ kind: kind.noun, id, why: "it is nested too deep" });
      return [];
    });
    lists[kind.list] = kind.list === "flags" ? Object.fromEntries(made) : made.map(([, it]) => it);
  }
  const config = Object.entries(live.remoteConfig).filter(([name]) => !derivedConfig.test(name));
  const remote = cleaner.clean(Object.fromEntries(config), "remote_config");
  const settings = cleaner.clean(settingsOf(project), "settings");
  const scenario: JsonObject = {
    $schema: schemaPath,
    version: 1,
    organizations: [
      {
        name: "Twin",
        projects: [
          {
            ...(typeof project.id === "number" && { id: project.id }),
            name: name ?? "Project",
            api_key: String(project.api_token),
            ...(typeof project.timezone === "string" && { timezone: project.timezone }),
            ...(settings && Object.keys(settings).length > 0 && { settings }),
            ...(live.groupTypes.length > 0 && { group_types: [...live.groupTypes] }),
            ...lists,
            ...(remote && Object.keys(remote).length > 0 && { remote_config: remote }),
          },
        ],
      },
    ],
    personal_api_keys: [{ key: "phx_twin", scopes: ["*"] }],
  };
  const removed = await removeInvalidParts(scenario, (pointer) => placeIn(scenario, pointer));
  leftOut.push(...removed.map(partAt));
  if (valueAt(scenario, [...projectPath, "api_key"]) !== project.api_token)
    throw new ServiceError("service", `a scenario cannot have this project: ${removed[0]?.message}`);
  const { warnings: found } = await readScenario([scenario as ScenarioLayer]);
  const warnings = found.map(({ pointer, message }) => partAt({ place: placeIn(scenario, pointer), message }));
  const { redacted } = cleaner;
  return { scenario, counts: countsOf(scenario), redacted, leftOut, warnings, notOffered: live.notOffered };
}

/** What people know a document by: the key of a flag, else its id. */
const nameOf = (document: JsonObject): string => String(document.key ?? document.id ?? document.name ?? "?");

function authoredDocument(kind: LiveKind, document: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const made = kind.author(document);
  if (kind.list === "cohorts") return { ...made, name: String(made.name ?? `Cohort ${String(document.id)}`) };
  if (kind.list === "insights") return { ...made, name: names.get(String(document.id)) ?? String(document.id) };
  if (kind.list !== "dashboards") return made;
  const tiles = objectsIn(document.tiles).flatMap((tile) => authoredTile(tile, names) ?? []);
  return { ...made, ...(tiles.length > 0 && { tiles }) };
}

function notesOn(kind: LiveKind, document: JsonObject): LeftOut[] {
  const of = (why: string): LeftOut => ({ kind: kind.noun, id: nameOf(document), why });
  if (kind.list === "cohorts" && document.is_static === true)
    return [of("the members of a static cohort: persons are not pulled")];
  if (kind.list === "cohorts" && !isObject(document.filters) && objectsIn(document.groups).length > 0)
    return [of("it has conditions of an older form, which are not pulled: save it in the service again")];
  if (kind.list === "flags" && document.has_encrypted_payloads === true)
    return [of("its payloads are encrypted, and not pulled")];
  if (kind.list === "dashboards") {
    const tiles = objectsIn(document.tiles).filter((it) => !isObject(it.insight) && !isObject(it.text));
    return tiles.map((it) => of(`tile ${String(it.id)} is neither a text nor an insight`));
  }
  return [];
}

const projectPath = ["organizations", 0, "projects", 0] as const;

/** The kind, the id and the path within the document of a place in the made project, as JSON. */
function placeIn(scenario: JsonObject, pointer: string): string {
  const steps = stepsOf(pointer);
  const [list = "", at = "", ...rest] = steps.slice(projectPath.length);
  const kind = liveKinds.find((it) => it.list === list);
  if (!kind) return JSON.stringify(["project", "", [list, at, ...rest].filter(Boolean).join(".")]);
  const document = valueAt(scenario, [...projectPath, list, list === "flags" ? at : Number(at)]);
  const id = list === "flags" || !isObject(document) ? at : nameOf(document);
  return JSON.stringify([kind.noun, id, rest.join(".")]);
}

function partAt({ place, message }: { place: string; message: string }): LeftOut {
  const [kind = "project", id = "", path = ""] = textsIn(JSON.parse(place) as Json);
  return { kind, id, why: path === "" ? message : `${path}: ${message}` };
}

function countsOf(scenario: JsonObject): Record<string, number> {
  const project = valueAt(scenario, projectPath);
  return Object.fromEntries(
    liveKinds.flatMap(({ list }) => {
      const held = isObject(project) ? own(project, list) : undefined;
      return held === undefined || held === null ? [] : [[list, Object.keys(held).length]];
    }),
  );
}
