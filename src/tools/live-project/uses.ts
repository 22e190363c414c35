import { isObject, type Json, type JsonObject, own } from "../../kernel/base/json.ts";

export interface NameUse {
  readonly what: "event" | "property" | "person property" | "group property" | "action" | "cohort";
  /** A name, or a number as text. */
  readonly name: string;
  /** Index of the group type of a property. */
  readonly groupType?: number | undefined;
  /** `query.source.series[0].event` */
  readonly path: string;
}

/** HogQL in a document: it is searched for names, and not parsed. */
interface QueryText {
  readonly text: string;
  readonly path: string;
}

export interface Uses {
  readonly uses: readonly NameUse[];
  readonly texts: readonly QueryText[];
}

type Rule = (object: JsonObject, at: (name: string) => string, to: Collector) => void;

interface Collector {
  use(what: NameUse["what"], name: Json | undefined, path: string, groupType?: Json): void;
  text(text: Json | undefined, path: string): void;
}

/** Properties by the type that a filter or a breakdown gives; without a type they are the event's. */
const propertyTypes: Readonly<Record<string, NameUse["what"]>> = {
  event: "property",
  person: "person property",
  group: "group property",
};

const isKind = (object: JsonObject, pattern: RegExp): boolean =>
  typeof object.kind === "string" && pattern.test(object.kind);

function property(to: Collector, type: Json | undefined, name: Json | undefined, path: string, group?: Json): void {
  if (type === "hogql") to.text(name, path);
  const what = propertyTypes[typeof type === "string" ? type : "event"];
  if (what !== undefined) to.use(what, name, path, group);
}

/** `{key, value, operator, type}`: a condition of an insight, a cohort, a flag, a step of an action. */
const condition: Rule = (object, at, to) => {
  const { key, type, value, group_type_index: group } = object;
  if (typeof key !== "string" || !("value" in object || "operator" in object)) return;
  if (type === "cohort" || type === "static-cohort" || type === "precalculated-cohort")
    to.use("cohort", value, at("value"));
  else if (type === "behavioral") behaviour(object, at, to);
  else property(to, type, key, at("key"), group);
};

/** A condition of a cohort on what persons did. */
const behaviour: Rule = (object, at, to) => {
  for (const [name, type] of [
    ["key", "event_type"],
    ["seq_event", "seq_event_type"],
  ] as const)
    to.use(object[type] === "actions" ? "action" : "event", object[name], at(name));
};

/** Nodes of queries, targets of retention, exposures of experiments. */
const node: Rule = (object, at, to) => {
  if (isKind(object, /Event\w*(?:Node|Config)$|^EventsQuery$/)) to.use("event", object.event, at("event"));
  if (isKind(object, /ActionsNode$/)) to.use("action", object.id, at("id"));
  if (isKind(object, /^(?:ActorsQuery|EventsQuery|HogQLQuery)$/))
    for (const name of ["query", "select", "where", "orderBy"])
      for (const text of [object[name]].flat()) to.text(text, at(name));
};

/** `{id, type: "events"}`: series of older insights, targets of retention. */
const entity: Rule = (object, at, to) => {
  if (object.type === "events") to.use("event", object.id, at("id"));
  if (object.type === "actions") to.use("action", object.id, at("id"));
};

const math: Rule = (object, at, to) => {
  property(to, object.math_property_type ?? "event", object.math_property, at("math_property"));
  to.text(object.math_hogql, at("math_hogql"));
};

const breakdown: Rule = (object, at, to) => {
  const { breakdown: names, breakdown_type: type, breakdown_group_type_index: group } = object;
  for (const name of [names].flat())
    if (type === "cohort") to.use("cohort", name, at("breakdown"));
    else if (typeof name === "string") property(to, type, name, at("breakdown"), group);
  if (!("breakdown" in object) && typeof object.property === "string")
    property(to, object.type, object.property, at("property"), object.group_type_index);
};

const rules: readonly Rule[] = [condition, node, entity, math, breakdown];

/** Lists whose items are `{name}` of events, or `{id}` of actions. */
const named: Readonly<Record<string, readonly [NameUse["what"], string]>> = {
  "conditions.events.values": ["event", "name"],
  "conditions.cancelEvents.values": ["event", "name"],
  "conditions.actions.values": ["action", "id"],
};

export function usesIn(document: JsonObject, fields: readonly string[]): Uses {
  const uses: NameUse[] = [];
  const texts: QueryText[] = [];
  const to: Collector = {
    use(what, name, path, group) {
      if (typeof name !== "string" && typeof name !== "number") return;
      const groupType = typeof group === "number" ? group : undefined;
      uses.push({ what, name: String(name), path, ...(groupType !== undefined && { groupType }) });
    },
    text(text, path) {
      if (typeof text === "string") texts.push({ text, path });
    },
  };
  const walk = (value: Json, path: string): void => {
    if (Array.isArray(value)) {
      const list = named[path];
      for (const [i, it] of value.entries()) {
        const at = `${path}[${i}]`;
        if (list && isObject(it)) to.use(list[0], own(it, list[1]), `${at}.${list[1]}`);
        // what an action is, is in the action
        if (list?.[0] !== "action") walk(it, at);
      }
    } else if (isObject(value)) {
      for (const rule of rules) rule(value, (name) => `${path}.${name}`, to);
      for (const [name, it] of Object.entries(value)) walk(it, `${path}.${name}`);
    }
  };
  for (const field of fields) {
    const value = own(document, field);
    if (value !== undefined && value !== null) walk(value, field);
  }
  return { uses, texts };
}
