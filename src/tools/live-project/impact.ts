import { type JsonObject, objectsIn, own } from "../../kernel/base/json.ts";
import { escapedPattern } from "../../kernel/base/text.ts";
import type { Baseline, TestRecord } from "../baseline/record.ts";
import { type NameUse, type Uses, usesIn } from "./uses.ts";

/** What an app does not send any more. */
export interface Removed {
  readonly what: "event" | "property" | "person property" | "group property";
  readonly name: string;
  /** The event of a property, the type of a group; null for others. */
  readonly of: string | null;
}

/** Names that are sent: `event`, `property`, … with what they belong to. */
function sentIn(records: Iterable<TestRecord>): Map<string, Removed> {
  const sent = new Map<string, Removed>();
  const add = (what: Removed["what"], name: string, of: string | null): void => {
    const it: Removed = { what, name, of };
    sent.set(JSON.stringify(it), it);
  };
  for (const { events, identity } of records) {
    for (const [event, { properties }] of events) {
      add("event", event, null);
      for (const name of properties.keys()) {
        const [, onPerson] = /^\$set(?:_once)?\.(.+)$/.exec(name) ?? [];
        if (onPerson !== undefined) add("person property", onPerson, null);
        else if (!name.startsWith("$groups.")) add("property", name, event);
      }
    }
    for (const [call, { properties }] of identity) {
      const [, type] = /^group (.+)$/.exec(call) ?? [];
      for (const name of properties.keys())
        if (type === undefined) add("person property", name, null);
        else add("group property", name, type);
    }
  }
  return sent;
}

/** What no test sends any more. Tests that did not run count as before, unless the second baseline is complete. */
export function removedBetween(before: Baseline, after: Baseline, complete: boolean): Removed[] {
  const notRun = complete ? [] : [...before.tests].filter(([name]) => !after.tests.has(name));
  const still = sentIn([...after.tests.values(), ...notRun.map(([, it]) => it)]);
  const gone = [...sentIn(before.tests.values())].filter(([key]) => !still.has(key)).map(([, it]) => it);
  const events = new Set(gone.filter(({ what }) => what === "event").map(({ name }) => name));
  return gone.filter(({ what, of }) => what !== "property" || of === null || !events.has(of));
}

/** A live document that uses something that is not sent any more. */
export interface Affected {
  readonly removed: Removed;
  /** `insight`, `cohort`, … */
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly path: string;
  /** How sure it is: a place that is known, a name in HogQL, or another document that is affected. */
  readonly by: "place" | "mention" | "action" | "cohort";
  readonly through: string | null;
}

/** The fields of each kind that have rules, series and conditions. */
const places: readonly { list: string; noun: string; fields: readonly string[] }[] = [
  { list: "actions", noun: "action", fields: ["steps"] },
  { list: "cohorts", noun: "cohort", fields: ["filters", "groups", "query"] },
  { list: "flags", noun: "flag", fields: ["filters"] },
  {
    list: "experiments",
    noun: "experiment",
    fields: ["metrics", "metrics_secondary", "saved_metrics", "exposure_criteria", "filters", "secondary_metrics"],
  },
  { list: "surveys", noun: "survey", fields: ["conditions"] },
  { list: "insights", noun: "insight", fields: ["query", "filters"] },
  { list: "dashboards", noun: "dashboard", fields: ["filters"] },
];

export const impactLists: ReadonlySet<string> = new Set(places.map(({ list }) => list));

interface Found extends Uses {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

/** Documents by list: a list of them, or an object by key. */
export type DocumentLists = (list: string) => readonly JsonObject[];

export const listsOf =
  (project: JsonObject): DocumentLists =>
  (list) => {
    const held = own(project, list);
    return typeof held === "object" && held !== null && !Array.isArray(held)
      ? Object.entries(held).flatMap(([key, it]) => objectsIn([it]).map((flag) => ({ ...flag, key })))
      : objectsIn(held);
  };

/** Steps of actions name events, apart from conditions. */
function usesOf(list: string, document: JsonObject, fields: readonly string[]): Uses {
  const found = usesIn(document, fields);
  if (list !== "actions") return found;
  const steps = objectsIn(document.steps).flatMap(({ event }, i): NameUse[] =>
    typeof event === "string" ? [{ what: "event", name: event, path: `steps[${i}].event` }] : [],
  );
  return { ...found, uses: [...steps, ...found.uses] };
}

/** How HogQL names it; a name in another role is found, too. */
function mentionOf({ what, name }: Removed): RegExp {
  const it = escapedPattern(name);
  if (what === "event") return new RegExp(`'${it}'|"${it}"`);
  const owner = what === "property" ? "(?<!person\\.)\\bproperties" : "\\bproperties";
  return new RegExp(`${owner}(?:\\.[\`"]?${it}(?![\\w$])|\\[['"]${it}['"]\\])`);
}

/** Which documents use what is removed, also through actions and cohorts. @param groupTypes Names by index */
export function impactOf(removed: readonly Removed[], lists: DocumentLists, groupTypes: readonly string[]): Affected[] {
  const documents = places.flatMap(({ list, noun, fields }) =>
    lists(list).map((it): Found => {
      const { id, key, name, derived_name: derived } = it;
      const given = list === "flags" ? key : name || derived || "";
      return {
        kind: noun,
        id: String(list === "flags" ? key : id),
        name: String(given ?? ""),
        ...usesOf(list, it, fields),
      };
    }),
  );
  return removed.flatMap((it) => affectedBy(it, documents, groupTypes));
}

function affectedBy(removed: Removed, documents: readonly Found[], groupTypes: readonly string[]): Affected[] {
  const found = new Map<string, Affected>();
  const keyOf = ({ kind, id }: Pick<Found, "kind" | "id">): string => `${kind} ${id}`;
  const add = (it: Found, path: string, by: Affected["by"], through: string | null = null): void => {
    const { kind, id, name } = it;
    if (!found.has(keyOf(it))) found.set(keyOf(it), { removed, kind, id, name, path, by, through });
  };
  for (const it of documents) {
    const use = it.uses.find((one) => isUseOf(one, removed, groupTypes));
    if (use && concerns(it, removed, documents)) add(it, use.path, "place");
    const mention = mentionOf(removed);
    const text = it.texts.find((one) => mention.test(one.text));
    if (text) add(it, text.path, "mention");
  }
  // through actions and cohorts, until nothing is added
  for (let count = -1; count !== found.size; ) {
    count = found.size;
    for (const it of documents) {
      const use = it.uses.find(
        ({ what, name }) =>
          (what === "action" || what === "cohort") && found.has(`${what} ${name}`) && keyOf(it) !== `${what} ${name}`,
      );
      if (use?.what === "action" || use?.what === "cohort") add(it, use.path, use.what, use.name);
    }
  }
  return [...found.values()];
}

function isUseOf({ what, name, groupType }: NameUse, removed: Removed, groupTypes: readonly string[]): boolean {
  if (what !== removed.what || name !== removed.name) return false;
  return what !== "group property" || groupType === undefined || groupTypes[groupType] === removed.of;
}

/** A property concerns a document about its event, itself or by an action, or about no event in particular. */
function concerns(document: Found, { what, of }: Removed, documents: readonly Found[]): boolean {
  if (what !== "property") return true;
  const eventsOf = ({ uses }: Uses): string[] =>
    uses.flatMap((it) => {
      if (it.what === "event") return [it.name];
      const action = documents.find(({ kind, id }) => kind === "action" && id === it.name);
      return it.what === "action" && action ? eventsOf(action) : [];
    });
  const events = eventsOf(document);
  return events.length === 0 || events.includes(of ?? "");
}
