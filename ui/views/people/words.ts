import type { Json } from "../../../src/kernel/base/json.ts";
import type { Join, Origin, StoredPerson as Person } from "../../../src/lab/person-history/shapes.ts";
import { valueText } from "../../../src/state/journal/filter/print.ts";
import { plain } from "../../parts/text.ts";

export const joinTexts: Readonly<Record<Join["outcome"], string>> = {
  created: "merged into one person",
  attached: "added to the person",
  merged: "two persons became one",
  same: "already the same person",
  refused: "refused",
};

export const originTexts: Readonly<Record<Origin, string>> = {
  event: "an event",
  scenario: "the scenario",
  unknown: "unknown",
};

const texts = (...values: readonly (Json | undefined)[]): string[] =>
  values.filter((it): it is string => typeof it === "string" && it.trim() !== "");

const isMade = (id: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(id);

/** Display name: e-mail, name, or the id that looks least generated. */
export function nameOf({ properties, distinct_ids: ids, uuid }: Person): string {
  const [known] = texts(properties.email, properties.name);
  return known ?? ids.findLast((it) => !isMade(it)) ?? ids[0] ?? uuid;
}

export const valueLine = (value: Json): string => plain(JSON.stringify(value), 80);

/** Maximum length of a filter. */
const longestFilter = 1_800;

/** A filter of a person's events, by its ids: the uuid changes with merges. */
export function filterOf({ distinct_ids: ids, uuid }: Pick<Person, "distinct_ids" | "uuid">): string {
  const filter = `distinct_id:${ids.map(valueText).join(",")}`;
  return ids.length > 0 && filter.length <= longestFilter ? filter : `person:${uuid}`;
}

/** Calls of the SDKs that create a person or a group. */
export type SdkCalls = Readonly<Record<"browser" | "node", readonly string[]>>;

export const identifyCalls: SdkCalls = {
  browser: ['identify("user-1", { email: "ada@example.com", plan: "pro" })'],
  node: [
    'identify({ distinctId: "user-1", properties: { email: "ada@example.com" } })',
    'alias({ distinctId: "user-1", alias: "anonymous-1" })',
  ],
};

export const groupCalls: SdkCalls = {
  browser: ['group("company", "acme", { name: "Acme Inc.", tier: "gold" })', 'capture("report_opened")'],
  node: [
    'groupIdentify({ groupType: "company", groupKey: "acme", properties: { tier: "gold" } })',
    'capture({ distinctId: "user-1", event: "report_opened", groups: { company: "acme" } })',
  ],
};
