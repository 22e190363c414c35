import { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { compareText } from "../../../kernel/base/text.ts";
import { compareTimes, wireTime } from "../../../state/documents/time.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import { isSdkEvent } from "../../../state/journal/sdk-properties.ts";
import type { ResourceRequest } from "../../api-frame/changing.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { boolean, choice, integer, invalid, list, text } from "../../api-frame/fields.ts";
import { showUserOf, UserShape } from "../../api-frame/users.ts";
import type { ResourceKind, Writing } from "../resources/kind.ts";
import { tagsIn, textIn } from "../resources/resource-fields.ts";
import {
  compareNames,
  definitionFields,
  initialDefinition,
  joined,
  listIn,
  shownDefinition,
  showVerified,
  termsFilter,
  tidied,
} from "./definition-fields.ts";

const nameOf = ({ fields }: StoredResource): string => textIn(fields, "name");

const staleDays = 30;

/** The tests of names by `?event_type=`. */
const eventTypes: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ["event", () => true],
  ["event_custom", (name: string) => !name.startsWith("$")],
  ["event_posthog", (name: string) => name.startsWith("$")],
  ["all", () => true],
  ["action_event", () => true],
]);

type Compare = (a: StoredResource, b: StoredResource) => number;

/** Missing times are the smallest. */
const byTime =
  (field: string, length?: number): Compare =>
  (a, b) => {
    const [one, other] = [textIn(a.fields, field).slice(0, length), textIn(b.fields, field).slice(0, length)];
    return one === "" || other === "" ? compareText(one, other) : compareTimes(one, other);
  };

/** The length of a date and one more: the comparison of times leaves out the last letter. */
const ofDay = 11;

const orderings: ReadonlyMap<string, Compare> = new Map([
  ["name", compareNames],
  ["last_seen_at", byTime("last_seen_at")],
  ["last_seen_at::date", byTime("last_seen_at", ofDay)],
  ["created_at", byTime("created_at")],
  ["created_at::date", byTime("created_at", ofDay)],
]);

const backwards =
  (compare: Compare): Compare =>
  (a, b) =>
    compare(b, a);

const byLength: Compare = (a, b) => nameOf(a).length - nameOf(b).length;

/** The comparisons of the list, the first one that is not 0 decides. */
function ordersOf({ call }: ResourceRequest): Compare[] {
  const asked = call.query
    .getAll("ordering")
    .flatMap((it) => it.split(","))
    .flatMap((it) => {
      const compare = orderings.get(it.replaceAll("-", ""));
      return compare ? [it.includes("-") ? backwards(compare) : compare] : [];
    });
  if (asked.length > 0) return [...asked, compareNames];
  const usual = [backwards(byTime("last_seen_at", ofDay)), compareNames];
  return call.query.get("search")?.trim() ? [byLength, ...usual] : usual;
}

/** @throws SimError invalid_input */
function narrow(
  documents: readonly StoredResource[],
  request: ResourceRequest,
  { clock }: ResourceDesk,
): readonly StoredResource[] {
  const { query } = request.call;
  const isOfType = eventTypes.get(query.get("event_type") ?? "event");
  if (!isOfType) {
    const known = "event, event_custom, event_posthog";
    throw invalid(`Not a valid event type. Use one of: ${known}.`, "event_type");
  }
  const is = (name: string): boolean => query.get(name)?.toLowerCase() === "true";
  const [withoutHidden, withoutStale] = [is("exclude_hidden"), is("exclude_stale")];
  const oldest = wireTime(clock.now() - staleDays * 86_400_000);
  const isVerified = query.get("verified") === null ? undefined : is("verified");
  const excluded = listIn(query, "excluded_properties");
  const names = new Set(query.getAll("names").flatMap((it) => it.split(",").filter(Boolean)));
  const orders = ordersOf(request);
  return documents
    .filter((it) => {
      const { hidden, verified, last_seen_at: seen } = it.fields;
      const name = nameOf(it);
      return (
        isOfType(name) &&
        !(withoutHidden && hidden === true) &&
        !(withoutStale && typeof seen === "string" && compareTimes(seen, oldest) <= 0) &&
        (isVerified === undefined || isVerified === (verified === true || isSdkEvent(name))) &&
        !excluded?.has(name) &&
        (names.size === 0 || names.has(name))
      );
    })
    .toSorted((a, b) => orders.map((it) => it(a, b)).find((it) => it !== 0) ?? 0);
}

/** @throws SimError with the service's text for what is wrong */
function prepare(given: JsonObject, writing: Writing): JsonObject {
  const { body, before, desk, loaded } = writing;
  const name = before ? textIn(before.fields, "name") : textIn(given, "name");
  if (!before && loaded.some((it) => nameOf(it) === name && it.fields.deleted !== true)) {
    throw invalid(`Event definition with name '${name}' already exists`, "name");
  }
  const { owner } = body;
  if (typeof owner === "number" && !desk.worlds.get("users", owner)) {
    throw invalid(`Invalid pk "${owner}" - object does not exist.`, "owner", "does_not_exist");
  }
  if (body.enforcement_mode === "reject") {
    throw invalid('Setting schema enforcement mode to "reject" requires the schema-enforcement-reject feature flag');
  }
  const { seq: _seq, last_seen_at: _last, first_seen_at: _first, ...fields } = given;
  return tidied({ ...fields, name }, writing, "An event");
}

/**
 * Events by name: those that were captured, and those that clients or a scenario define.
 * Upstream PostHog/posthog posthog/api/event_definition.py, ee/api/ee_event_definition.py.
 */
export const eventDefinitions: ResourceKind = {
  kind: "event_definitions",
  noun: "event definition",
  isOnlyStored: false,
  of: "project",
  scope: "event_definition",
  deletion: "hard",
  fields: {
    name: text({ max: 400 }),
    owner: integer().nullable().optional(),
    ...definitionFields,
    enforcement_mode: choice(["allow", "reject"]).optional(),
    primary_property: text({ max: 400 }).nullable().optional(),
    post_to_slack: boolean().optional(),
    default_columns: list(text()).optional(),
  },
  initial: {
    ...initialDefinition,
    owner: null,
    last_seen_at: null,
    enforcement_mode: "allow",
    primary_property: null,
    default_columns: [],
  },
  stamps: ["updated_at", "updated_by"],
  shown: {
    ...shownDefinition,
    created_at: z.string().nullable().describe("When it was captured first"),
    last_seen_at: z.string().nullable(),
    owner: UserShape.nullable(),
    is_action: z.literal(false),
    media_preview_urls: z.array(z.string()),
  },
  unshown: ["seq", "first_seen_at"],
  filters: [termsFilter, tagsIn],
  query: {
    event_type: choice(["event", "event_custom", "event_posthog"]).describe(
      "event_custom: names without $, event_posthog: names with it",
    ),
    ordering: z
      .string()
      .describe(`Fields with commas between them, - for descending: ${[...orderings.keys()].join(", ")}`),
    verified: z.boolean().describe("Only verified ones and those of SDKs, or only the others"),
    exclude_hidden: z.boolean().describe("True: hidden ones are left out"),
    exclude_stale: z.boolean().describe(`True: those not captured for ${staleDays} days are left out`),
    names: z.string().describe("Only these, with commas between them; may be repeated"),
    excluded_properties: z.string().describe("JSON list of names that are left out"),
  },
  async load({ project }, _, resources) {
    const id = project?.id ?? 0;
    const { events } = await resources.captured(id);
    return joined({
      kind: "event_definitions",
      project: id,
      stored: resources.stored("event_definitions", id),
      captured: events.values(),
      identify: ({ name }) => ({ name }),
      identityOf: ({ name = null }) => ({ name }),
      facts: ({ first, last }) => ({ first_seen_at: first, last_seen_at: last }),
    });
  },
  narrow,
  prepare,
  remains: ({ fields: { name = null, seq } }) => (seq === undefined ? undefined : { name, seq }),
  show: (fields, _, desk) => ({
    ...showVerified(fields, desk),
    owner: showUserOf(desk, typeof fields.owner === "number" ? fields.owner : null),
    created_at: fields.first_seen_at ?? fields.created_at ?? null,
    is_action: false,
    post_to_slack: false,
    media_preview_urls: [],
  }),
};
