import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { type Sensitive, sensitiveIn } from "../sensitive.ts";
import type { LintEvent, Rule } from "../types.ts";

/** How deep, and how many values of an event, are looked at. */
const deepest = 5;
const mostValues = 500;
const longestChain = 50_000;

interface Sighted {
  path: string;
  what: Sensitive;
}

/** Properties of SDKs with text that the app or its users write: of pages, errors, and conversations with models. */
const contents: ReadonlySet<string> = new Set([
  "$elements_chain",
  "$elements",
  "$el_text",
  "$exception_list",
  "$exception_message",
  "$ai_input",
  "$ai_output_choices",
  "$ai_input_state",
  "$ai_output_state",
]);

/** Lines of the app's source code in the frames of a stack. */
const sourceLines: ReadonlySet<string> = new Set(["pre_context", "context_line", "post_context"]);

/** Of the properties that SDKs make, those with addresses of pages; the others hold ids. */
const pageAddresses: ReadonlySet<string> = new Set([
  "$current_url",
  "$initial_current_url",
  "$referrer",
  "$initial_referrer",
  "$session_entry_url",
  "$session_entry_referrer",
  "$pathname",
]);

/** They are people's names for each other. */
const ids: ReadonlySet<string> = new Set(["distinct_id", "alias", "token"]);

/** The number of something is no card's. */
const isId = (name: string): boolean => /(?:^|[_\-.])(?:id|ids|uuid)$|(?:[a-z0-9])(?:Id|ID|Ids)$/.test(name);

/** Events for which SDKs copy what they set into the properties, too. Upstream posthog-ruby, posthog-php. */
const copying: ReadonlySet<string> = new Set(["$identify", "$groupidentify"]);

/** What goes to the person or the group, where an e-mail address is at home. */
const ofPeople: ReadonlySet<string> = new Set(["$set", "$set_once", "$group_set"]);

/** A key may be private as well. */
const keyShown = (key: string): string => (key.length > 60 || sensitiveIn(key) ? "*" : key);

function* sightings(
  value: Json,
  path: string,
  name: string,
  budget: { left: number },
  depth = 0,
): Generator<Sighted> {
  if (budget.left-- <= 0) return;
  if (typeof value === "string") {
    const what = sensitiveIn(value);
    if (what !== undefined && !(what === "a card number" && isId(name))) yield { path, what };
  } else if (depth < deepest && Array.isArray(value)) {
    for (const it of value) yield* sightings(it, `${path}[]`, name, budget, depth + 1);
  } else if (depth < deepest && isObject(value)) {
    for (const key of Object.keys(value).filter((it) => !sourceLines.has(it)))
      yield* sightings(value[key] ?? null, `${path}.${keyShown(key)}`, key, budget, depth + 1);
  }
}

type Area = readonly [object: JsonObject | undefined, path: string, isOfPeople: boolean];

const areasOf = ({ properties, set, setOnce }: LintEvent): Area[] => [
  [properties, "properties", false],
  [set, "$set", true],
  [setOnce, "$set_once", true],
  ...[...ofPeople].map(
    (name): Area => [isObject(properties[name]) ? properties[name] : undefined, `properties.${name}`, true],
  ),
];

const isLookedAt = (name: string): boolean =>
  name.startsWith("$") ? pageAddresses.has(name) || contents.has(name) : !ids.has(name);

const attribute = /([\w-]+)="((?:[^"\\]|\\.)*)"/g;

/** The texts and attributes in a chain of elements: `a.link:attr__href="/x"text="Go";div`. */
const elementsIn = (chain: string): Json =>
  Array.from(chain.slice(0, longestChain).matchAll(attribute), ([, name = "", value = ""]) => ({
    [name.replace(/^attr__/, "")]: value,
  }));

const contentOf = (name: string, value: Json): Json =>
  name === "$elements_chain" && typeof value === "string" ? elementsIn(value) : value;

function* personalIn(it: LintEvent): Generator<Sighted> {
  const shared = { left: mostValues };
  const areas = areasOf(it);
  const isCopied = (name: string, value: Json | undefined): boolean =>
    copying.has(it.event) && areas.some(([object, , isOfPeople]) => isOfPeople && object?.[name] === value);
  for (const [object, path, isOfPeople] of areas) {
    for (const name of Object.keys(object ?? {})) {
      if (!isLookedAt(name)) continue;
      const value = object?.[name] ?? null;
      const budget = contents.has(name) ? { left: mostValues } : shared;
      const isAtHome = isOfPeople || isCopied(name, value);
      for (const found of sightings(contentOf(name, value), `${path}.${keyShown(name)}`, name, budget)) {
        if (!isAtHome || found.what !== "an e-mail address") yield found;
      }
    }
  }
}

/** `pii_property`: names the place, never the value. */
export const personalData = (): Rule => ({
  look({ events }, { tell }) {
    for (const it of events) {
      for (const { path, what } of personalIn(it)) {
        const { event, seq } = it;
        tell({ code: "pii_property", event, subject: path, detail: `${path} holds ${what}`, seq });
      }
    }
  },
});
