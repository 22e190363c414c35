import { type Json, type JsonObject, own as valueIn } from "../../../src/kernel/base/json.ts";
import { isCampaignParameter, isSdkProperty } from "../../../src/state/journal/sdk-properties.ts";

export interface Group {
  /** Id of its row in the tree; without a slash, to differ from JSON pointers. */
  readonly id: string;
  readonly title: string;
  /** Initially expanded. */
  readonly isOpen: boolean;
  /** Undefined: takes the remaining properties. */
  readonly has?: (name: string) => boolean;
  /** Nulls go to the last group: the SDK had nothing to report. */
  readonly isContext?: boolean;
  /** What is shown beside its title while it is folded; nothing: its first names and values. */
  readonly summary?: (properties: JsonObject) => readonly string[];
}

/** Groups in display order; a property belongs to the first match. */
export type Groups = readonly Group[];

const matches =
  (pattern: RegExp) =>
  (name: string): boolean =>
    pattern.test(name);

const own: Group = { id: "own", title: "Own properties", isOpen: true, has: (name) => !isSdkProperty(name) };

const emptyOf = (title: string): Group => ({ id: "empty", title, isOpen: false, has: () => false });

const context = (id: string, title: string, has: (name: string) => boolean): Group => ({
  id,
  title,
  isOpen: false,
  has,
  isContext: true,
});

/** The values of some properties as words, those that are missing or no words left out. */
const wordsIn = (properties: JsonObject, ...names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const value = valueIn(properties, name);
    return typeof value === "number" || (typeof value === "string" && value !== "") ? [String(value)] : [];
  });

/** The path of an address; what is no address stays. */
const pathIn = (text: string): string => (URL.canParse(text) ? new URL(text).pathname : text);

const prefixed = (prefix: string, words: readonly string[]): string[] => words.map((it) => prefix + it);

function pageWords(properties: JsonObject): string[] {
  const [path] = wordsIn(properties, "$pathname", "$current_url").map(pathIn);
  const from = wordsIn(properties, "$referrer").map((it) => (it === "$direct" ? "nowhere" : pathIn(it)));
  return [...(path === undefined ? wordsIn(properties, "$screen_name") : [path]), ...prefixed("from ", from)];
}

/** 01a20525…7da4. */
const shortId = (id: string): string => (id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);

const viewport = ["$viewport_width", "$viewport_height"];

const flagWords = (properties: JsonObject): string[] =>
  Object.entries(properties).flatMap(([name, value]) =>
    name.startsWith("$feature/") && typeof value !== "object"
      ? [`${name.slice("$feature/".length)} ${String(value)}`]
      : [],
  );

/** Groups of event properties: the app's own, then those the SDK adds, collapsed. Measured with posthog-js. */
export const eventGroups: Groups = [
  own,
  {
    id: "subject",
    title: "Person and groups",
    isOpen: false,
    has: matches(/^\$(?:set|set_once|unset|groups|group_(?:type|key|set|\d)|anon_distinct_id)$/),
  },
  { id: "event", title: "About this event", isOpen: true },
  {
    id: "page",
    title: "Page",
    isOpen: false,
    summary: pageWords,
    has: matches(
      /^\$(?:current_url|host|pathname|referrer|referring_domain|search_engine|screen_name|(?:prev_)?pageview_\w+)$/,
    ),
  },
  {
    id: "session",
    title: "Session and ids",
    isOpen: false,
    summary: (it) => wordsIn(it, "$session_id").map(shortId),
    has: matches(
      /^(?:distinct_id|\$(?:device_id|user_id|is_identified|process_person_profile|window_id|recording_status|session_\w+|configured_session_timeout_ms))$/,
    ),
  },
  {
    id: "device",
    title: "Device and location",
    isOpen: false,
    summary: (it) => [
      ...[wordsIn(it, "$browser", "$browser_version").join(" "), wordsIn(it, "$os").join("")],
      wordsIn(it, ...viewport).join(" × "),
      ...wordsIn(it, "$geoip_city_name", "$geoip_country_name"),
    ],
    has: matches(
      /^\$(?:(?:os|browser|device|screen|viewport|timezone|geoip|app|network)(?:_\w+)?|raw_user_agent|user_agent|ip|locale|is_emulator)$/,
    ),
  },
  context("campaign", "Campaign", isCampaignParameter),
  {
    id: "flags",
    title: "Flags at that moment",
    isOpen: false,
    summary: flagWords,
    has: matches(
      /^\$(?:feature\/.*|active_feature_flags|enabled_feature_flags|feature_flag_(?:payloads|request_id|evaluated_at|definitions_loaded_at))$/s,
    ),
  },
  {
    id: "library",
    title: "Library",
    isOpen: false,
    summary: (it) => [wordsIn(it, "$lib", "$lib_version").join(" "), ...wordsIn(it, "$lib_custom_api_host")],
    has: matches(
      /^(?:token|\$(?:(?:lib|sdk)(?:_\w+)?|insert_id|time|sent_at|config_defaults|initialization_time|\w+_server_side))$/,
    ),
  },
  emptyOf("Empty campaign parameters"),
];

export const personGroups: Groups = [
  own,
  context("sdk", "Set by the SDK", (name) => isSdkProperty(name) && !name.startsWith("$initial_")),
  context("initial", "First values", (name) => name.startsWith("$initial_")),
  emptyOf("Empty"),
];

/** Index of a property's group. */
export function groupPlace(groups: Groups, name: string, value: Json): number {
  const place = groups.findIndex((it) => it.has?.(name) === true);
  if (place === -1) return groups.findIndex((it) => it.has === undefined);
  return value === null && groups[place]?.isContext ? groups.length - 1 : place;
}
