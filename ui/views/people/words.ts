import { valueText } from "../../../src/filter/print.ts";
import type { Json } from "../../../src/kernel/json.ts";
import { plain } from "../../parts/text.ts";
import type { JoinOutcome, Origin, Person } from "./told.ts";

/** What came of a join. */
export const joinTexts: Readonly<Record<JoinOutcome, string>> = {
  created: "made one person of both",
  attached: "added to the person",
  merged: "two persons became one",
  same: "were one already",
  refused: "refused",
};

/** What a person or group began with. */
export const originTexts: Readonly<Record<Origin, string>> = {
  event: "an event",
  scenario: "the scenario",
  unknown: "not known",
};

const texts = (...values: readonly (Json | undefined)[]): string[] =>
  values.filter((it): it is string => typeof it === "string" && it.trim() !== "");

const isMade = (id: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(id);

/** What to call a person: its e-mail, its name, or the id that a human has most likely chosen. */
export function nameOf({ properties, distinct_ids: ids, uuid }: Person): string {
  const [known] = texts(properties.email, properties.name);
  return known ?? ids.findLast((it) => !isMade(it)) ?? ids[0] ?? uuid;
}

/** A value on one line, at most 80 characters. */
export const valueLine = (value: Json): string => plain(JSON.stringify(value), 80);

/** Longer filters are not read. */
const longestFilter = 1_800;

/** The filter that finds a person's events: by its ids, as before a merge the uuid was another. */
export function filterOf({ distinct_ids: ids, uuid }: Pick<Person, "distinct_ids" | "uuid">): string {
  const filter = `distinct_id:${ids.map(valueText).join(",")}`;
  return ids.length > 0 && filter.length <= longestFilter ? filter : `person:${uuid}`;
}

/** How a project is taught its first person. */
export const identifySnippet = (key: string, host: string): string => `import posthog from "posthog-js";

posthog.init("${key}", { api_host: "${host}" });
posthog.identify("user-1", { email: "ada@example.com", plan: "pro" });`;

/** The same from a server. */
export const identifyNodeSnippet = (
  key: string,
  host: string,
): string => `import { PostHog } from "posthog-node";

const posthog = new PostHog("${key}", { host: "${host}" });
posthog.identify({ distinctId: "user-1", properties: { email: "ada@example.com" } });
posthog.alias({ distinctId: "user-1", alias: "anonymous-1" });
await posthog.shutdown();`;

/** How a project is taught its first group. */
export const groupSnippet = (key: string, host: string): string => `import posthog from "posthog-js";

posthog.init("${key}", { api_host: "${host}" });
posthog.group("company", "acme", { name: "Acme Inc.", tier: "gold" });
posthog.capture("report_opened");`;

/** The same from a server. */
export const groupNodeSnippet = (
  key: string,
  host: string,
): string => `import { PostHog } from "posthog-node";

const posthog = new PostHog("${key}", { host: "${host}" });
posthog.groupIdentify({ groupType: "company", groupKey: "acme", properties: { tier: "gold" } });
posthog.capture({ distinctId: "user-1", event: "report_opened", groups: { company: "acme" } });
await posthog.shutdown();`;
