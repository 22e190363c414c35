import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { unescaped } from "../../../../src/kernel/base/text.ts";
import { isCampaignParameter } from "../../../../src/state/journal/sdk-properties.ts";
import { numberIn, textIn } from "./read-values.ts";
import type { NamedValue } from "./value-list.tsx";

interface UrlParts {
  readonly origin: string;
  readonly path: string;
  readonly query: readonly NamedValue[];
  /** Parameters that are not in `query`: there are too many. */
  readonly left: number;
  readonly hash: string;
}

const mostParameters = 100;

/** The parts of an address, unescaped; undefined for what is no address. */
export function urlParts(text: string): UrlParts | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, protocol, host, pathname, searchParams, hash } = new URL(text);
  const query = [...searchParams];
  return {
    // other schemes than those of the web have no origin
    origin: origin === "null" ? `${protocol}${host === "" ? "" : `//${host}`}` : origin,
    path: unescaped(pathname),
    query: query.slice(0, mostParameters),
    left: query.length - Math.min(query.length, mostParameters),
    hash: unescaped(hash),
  };
}

/** The page's name, its address, and where its visitor came from. */
export interface PageFacts {
  readonly title: string | undefined;
  readonly screen: string | undefined;
  readonly url: string | undefined;
  readonly referrer: string | undefined;
  /** True if the visitor followed no link. */
  readonly isDirect: boolean;
  readonly campaign: readonly NamedValue[];
}

export function pageFacts(properties: JsonObject): PageFacts {
  const referrer = textIn(properties, "$referrer") ?? textIn(properties, "$referring_domain");
  const isDirect = referrer === "$direct";
  return {
    title: textIn(properties, "title") ?? textIn(properties, "$title"),
    screen: textIn(properties, "$screen_name"),
    url: textIn(properties, "$current_url") ?? textIn(properties, "$pathname"),
    referrer: isDirect ? undefined : referrer,
    isDirect,
    campaign: Object.entries(properties).filter(
      ([name, value]) => value !== null && value !== "" && isCampaignParameter(name),
    ),
  };
}

/** The visit that ended: of the page before, or of the page that was left. */
export interface Visit {
  readonly path: string | undefined;
  /** ms. */
  readonly spent: number | undefined;
  /** How far it was scrolled, and how much of it was seen, 0 to 1. */
  readonly scrolled: number | undefined;
  readonly seen: number | undefined;
}

const shareIn = (properties: JsonObject, name: string): number | undefined => {
  const share = numberIn(properties, name);
  return share === undefined ? undefined : Math.max(0, Math.min(1, share));
};

/** undefined: the event has none. */
export function visitIn(properties: JsonObject): Visit | undefined {
  const seconds = numberIn(properties, "$prev_pageview_duration");
  const visit = {
    path: textIn(properties, "$prev_pageview_pathname"),
    spent: seconds === undefined || seconds < 0 ? undefined : seconds * 1000,
    scrolled: shareIn(properties, "$prev_pageview_max_scroll_percentage"),
    seen: shareIn(properties, "$prev_pageview_max_content_percentage"),
  };
  return Object.values(visit).some((it) => it !== undefined) ? visit : undefined;
}

/** 38.2 s, 3 min 5 s. */
export function spentText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
