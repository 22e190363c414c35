import type { Json } from "../../../src/base/json.ts";
import { isCampaignParameter, isSdkProperty } from "../../../src/journal/sdk-properties.ts";

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
}

/** Groups in display order; a property belongs to the first match. */
export type Groups = readonly Group[];

const matches =
  (pattern: RegExp) =>
  (name: string): boolean =>
    pattern.test(name);

const own: Group = {
  id: "own",
  title: "Own properties",
  isOpen: true,
  has: (name) => !isSdkProperty(name),
};

const empty: Group = { id: "empty", title: "Empty", isOpen: false, has: () => false };

const context = (id: string, title: string, has: (name: string) => boolean): Group => ({
  id,
  title,
  isOpen: false,
  has,
  isContext: true,
});

/** Groups of event properties: the app's own, then those the SDK adds, collapsed. Measured with posthog-js. */
export const eventGroups: Groups = [
  own,
  {
    id: "subject",
    title: "Person and groups",
    isOpen: true,
    has: matches(/^\$(?:set|set_once|unset|groups|group_(?:type|key|set|\d)|anon_distinct_id)$/),
  },
  { id: "event", title: "About this event", isOpen: true },
  context(
    "page",
    "Page",
    matches(
      /^\$(?:current_url|host|pathname|referrer|referring_domain|search_engine|screen_name|(?:prev_)?pageview_\w+)$/,
    ),
  ),
  context(
    "session",
    "Session and ids",
    matches(
      /^(?:distinct_id|\$(?:device_id|user_id|is_identified|process_person_profile|window_id|recording_status|session_\w+|configured_session_timeout_ms))$/,
    ),
  ),
  context(
    "device",
    "Device and location",
    matches(
      /^\$(?:(?:os|browser|device|screen|viewport|timezone|geoip|app|network)(?:_\w+)?|raw_user_agent|user_agent|ip|locale|is_emulator)$/,
    ),
  ),
  context("campaign", "Campaign", isCampaignParameter),
  {
    id: "flags",
    title: "Flags at that moment",
    isOpen: false,
    has: matches(
      /^\$(?:feature\/.*|active_feature_flags|enabled_feature_flags|feature_flag_(?:payloads|request_id|evaluated_at|definitions_loaded_at))$/s,
    ),
  },
  context(
    "library",
    "Library",
    matches(
      /^(?:token|\$(?:(?:lib|sdk)(?:_\w+)?|insert_id|time|sent_at|config_defaults|initialization_time|\w+_server_side))$/,
    ),
  ),
  empty,
];

export const personGroups: Groups = [
  own,
  context("sdk", "Set by the SDK", (name) => isSdkProperty(name) && !name.startsWith("$initial_")),
  context("initial", "First values", (name) => name.startsWith("$initial_")),
  empty,
];

/** Index of a property's group. */
export function groupPlace(groups: Groups, name: string, value: Json): number {
  const place = groups.findIndex((it) => it.has?.(name) === true);
  if (place === -1) return groups.findIndex((it) => it.has === undefined);
  return value === null && groups[place]?.isContext ? groups.indexOf(empty) : place;
}
