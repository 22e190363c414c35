import { z } from "zod";
import type { Call } from "../http/call.ts";
import type { Endpoint, QueryParameter } from "../http/endpoint.ts";
import { SimError } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import type { Project } from "../model/world.ts";
import { found } from "./access.ts";
import type { ResourceDesk } from "./desk.ts";
import { dictionary, json, list, text } from "./fields.ts";
import { invalid } from "./invalid.ts";
import { pageQuery, windowOf } from "./page.ts";
import { type KnownPerson, PersonShape, personLinks, showPerson } from "./person-shape.ts";
import { propertyTest } from "./property-filters.ts";
import { legacyProjectEndpoint, type ProjectRow, projectEndpoints } from "./row.ts";

const read = "person:read";
const write = "person:write";

const PersonPage = z.object({
  next: z.string().nullable(),
  previous: z.string().nullable(),
  /** Only where `?include_total` asks for it. */
  count: z.int().optional(),
  results: z.array(PersonShape),
});

const personQuery: readonly QueryParameter[] = [
  { name: "distinct_id", description: "One of the person's ids", schema: { type: "string" } },
  { name: "email", description: "The property `email`, exactly", schema: { type: "string" } },
  {
    name: "search",
    description: "Part of the email, the name or an id, in any case",
    schema: { type: "string" },
  },
  { name: "properties", description: "Property filters, as JSON", schema: { type: "string" } },
];

/** What the parameters ask for besides what the store looks up by itself. */
function conditionOf(call: Call): ((person: KnownPerson) => boolean) | undefined {
  const email = call.query.get("email");
  const test = propertyTest(call.query.get("properties"), "person");
  if (!email && !test) return undefined;
  return ({ properties }) => (!email || properties.email === email) && (test?.(properties) ?? true);
}

async function listPersons(desk: ResourceDesk, call: Call, project: number) {
  const where = conditionOf(call);
  const distinctId = call.query.get("distinct_id");
  const search = call.query.get("search");
  const filter = {
    project,
    ...(distinctId && { distinct_id: distinctId }),
    ...(search && { search }),
    ...(where && { where }),
  };
  const { results } = await desk.people.persons({ ...filter, ...windowOf(call) });
  const total = call.query.has("include_total")
    ? (await desk.people.persons({ ...filter, limit: Number.MAX_SAFE_INTEGER })).results.length
    : undefined;
  return {
    ...personLinks(call, results.length),
    ...(total !== undefined && { count: total }),
    results: results.map(showPerson),
  };
}

/** @throws SimError not_found; invalid_input when it cannot be the id of a person */
function personOf(desk: ResourceDesk, { id: project }: Project, id: string): KnownPerson {
  if (!isUuid(id) && !/^\d+$/.test(id)) {
    throw invalid(
      `The ID provided does not look like a personID. If you are using a distinctId, please use /persons?distinct_id=${id} instead.`,
    );
  }
  return found(desk.people.person(project, id.toLowerCase()));
}

/** Stores the person with other properties. */
function save(desk: ResourceDesk, { distinct_ids: _, ...person }: KnownPerson, properties: JsonObject): void {
  desk.people.update({ ...person, properties, version: person.version + 1 });
}

/**
 * Removes persons, also from the static cohorts that list them. Their events stay: upstream deletes them
 * only once a week, whatever was asked.
 */
function forget(desk: ResourceDesk, project: number, persons: readonly KnownPerson[]): void {
  const gone = new Set(persons.map(({ uuid }) => uuid));
  const listing = desk.worlds.current.cohorts.filter(
    (cohort) => cohort.project === project && cohort.persons?.some((uuid) => gone.has(uuid)),
  );
  for (const person of persons) desk.people.remove(person);
  if (listing.length === 0) return;
  desk.worlds.change((draft) => {
    for (const cohort of listing) {
      const rest = (cohort.persons ?? []).filter((uuid) => !gone.has(uuid));
      draft.put("cohorts", { ...cohort, persons: rest });
    }
  });
}

const largestBulk = 1000;

const checkSize = (ids: readonly string[], name: string): void => {
  if (ids.length > largestBulk) throw invalid(`You can only pass ${largestBulk} ${name} in one call`);
};

const BulkDelete = z.object({ distinct_ids: list(text()).optional(), ids: list(text()).optional() });

/** The persons that a bulk deletion names; unknown ids are passed over. */
function personsNamed(
  { people }: ResourceDesk,
  project: number,
  { distinct_ids: distinctIds = [], ids = [] }: z.infer<typeof BulkDelete>,
): KnownPerson[] {
  checkSize(distinctIds, "distinct_ids");
  if (distinctIds.length === 0) checkSize(ids, "ids");
  if (distinctIds.length + ids.length === 0) {
    throw invalid("You need to specify either distinct_ids or ids");
  }
  const uuids =
    distinctIds.length > 0
      ? distinctIds.flatMap((id) => people.personOf(project, id)?.uuid ?? [])
      : ids.map((id) => id.toLowerCase());
  return [...new Set(uuids)].flatMap((uuid) => people.person(project, uuid) ?? []);
}

/** The field, which upstream asks for by hand: null is as good as absent. @throws SimError required */
function required<T>(value: T | null | undefined, name: string): T {
  if (value === undefined || value === null) throw invalid("This field is required.", name, "required");
  return value;
}

const PropertyUpdate = z.object({ value: json().optional(), key: text().nullable().optional() });
const PropertyRemoval = z.object({ $unset: text() });
const PropertiesUpdate = z.object({ properties: dictionary().nullable().optional() });
const Success = z.object({ success: z.literal(true) });

const noCreation =
  "Creating persons via this API is not allowed. Please create persons by sending an $identify event. See https://posthog.com/docs/product-analytics/identify for details.";

/**
 * Persons of a project, which capture makes: they are read, changed and removed here. Also at the address from
 * before projects had URLs. Upstream PostHog/posthog posthog/api/person.py.
 */
export function personEndpoints(desk: ResourceDesk): Endpoint[] {
  const rows = <Body = never>(row: ProjectRow<Body>): Endpoint[] => [
    ...projectEndpoints(desk, { pace: "analytics", ...row, path: `/persons${row.path}` }),
    legacyProjectEndpoint(desk, { pace: "analytics", ...row, path: `/person${row.path}` }),
  ];
  return [
    ...rows({
      methods: ["GET"],
      path: "",
      summary: "Persons, newest first",
      scope: read,
      query: [...pageQuery, ...personQuery],
      reply: PersonPage,
      handle: ({ call, project }) => listPersons(desk, call, project.id),
    }),
    ...rows({
      methods: ["POST"],
      path: "",
      summary: "Always refused: persons are made by events",
      scope: write,
      handle() {
        throw new SimError("method_not_allowed", noCreation);
      },
    }),
    ...rows({
      methods: ["POST"],
      path: "/bulk_delete",
      summary: "Removes persons by `distinct_ids` or `ids`",
      scope: write,
      status: 202,
      body: BulkDelete,
      handle({ project, body }) {
        forget(desk, project.id, personsNamed(desk, project.id, body()));
        return undefined;
      },
    }),
    ...rows({
      methods: ["GET"],
      path: "/:id",
      summary: "A person",
      scope: read,
      reply: PersonShape,
      handle: ({ project, param }) => showPerson(personOf(desk, project, param("id"))),
    }),
    ...rows({
      methods: ["PATCH", "PUT"],
      path: "/:id",
      summary: "Sets properties of a person; others stay",
      scope: write,
      status: 202,
      body: PropertiesUpdate,
      handle({ project, param, body }) {
        const properties = required(body().properties, "properties");
        const person = personOf(desk, project, param("id"));
        save(desk, person, { ...person.properties, ...properties });
        return undefined;
      },
    }),
    ...rows({
      methods: ["DELETE"],
      path: "/:id",
      summary: "Removes a person; its events stay",
      scope: write,
      status: 202,
      handle({ project, param }) {
        forget(desk, project.id, [personOf(desk, project, param("id"))]);
        return undefined;
      },
    }),
    ...rows({
      methods: ["POST"],
      path: "/:id/update_property",
      summary: "Sets one property of a person",
      scope: write,
      status: 202,
      body: PropertyUpdate,
      handle({ project, param, body }) {
        const given = body();
        const value: Json = required(given.value, "value");
        const key = required(given.key, "key");
        const person = personOf(desk, project, param("id"));
        save(desk, person, { ...person.properties, [key]: value });
        return undefined;
      },
    }),
    ...rows({
      methods: ["POST"],
      path: "/:id/delete_property",
      summary: "Removes one property of a person",
      scope: write,
      status: 201,
      body: PropertyRemoval,
      reply: Success,
      handle({ project, param, body }) {
        const person = personOf(desk, project, param("id"));
        const { $unset: key } = body();
        const rest = Object.entries(person.properties).filter(([name]) => name !== key);
        save(desk, person, Object.fromEntries(rest));
        return { success: true };
      },
    }),
  ];
}
