import { z } from "zod";
import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Cohort, Project } from "../../model/world.ts";
import { found, numberIn, requireScope } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { invalid } from "../invalid.ts";
import { filtered, filterQuery, type ListFilter, searchFilter } from "../list-filters.ts";
import { newestFirst } from "../newest.ts";
import { pageOf, pageQuery, pageSchema, windowOf } from "../page.ts";
import { PersonShape, personLinks, showPerson } from "../person-shape.ts";
import { projectEndpoints } from "../row.ts";
import { sortedByProject } from "../sorted.ts";
import { CohortBody, createCohort, updateCohort } from "./changes.ts";
import { CohortShape, showCohort } from "./shape.ts";
import { cohortOf, dependenciesOf, isBehavioral } from "./tree.ts";

const read = "cohort:read";
const write = "cohort:write";

const cohortNamed = (desk: ResourceDesk, project: Project, id: string): Cohort =>
  found(cohortOf(desk.worlds, project.id, numberIn(id)));

/** What the list can be narrowed by. */
const filtersOf = ({ worlds }: ResourceDesk): readonly ListFilter<Cohort>[] => [
  {
    name: "type",
    description: "static or dynamic",
    schema: { type: "string" },
    test([value]) {
      if (value !== "static" && value !== "dynamic") return undefined;
      return (cohort) => (cohort.is_static === true) === (value === "static");
    },
  },
  {
    name: "created_by_id",
    description: "Only what the user with this id made",
    schema: { type: "integer" },
    test:
      ([value]) =>
      (cohort) =>
        String(cohort.created_by) === value,
  },
  searchFilter("Part of the name, in any case", ({ name = null }) => [name]),
  {
    name: "hide_behavioral_cohorts",
    description: "true leaves out what depends on events",
    schema: { type: "string" },
    test: ([value]) =>
      value?.toLowerCase() === "true"
        ? (cohort) => ![cohort, ...dependenciesOf(worlds, cohort)].some(isBehavioral)
        : undefined,
  },
];

/** The persons that a static cohort lists and that are still there. */
function personsOf(desk: ResourceDesk, call: Call, cohort: Cohort) {
  if (cohort.is_static !== true) {
    throw invalid("phx-sim does not compute who is in a dynamic cohort.");
  }
  const { limit, offset } = windowOf(call);
  const persons = (cohort.persons ?? []).flatMap((uuid) => desk.people.person(cohort.project, uuid) ?? []);
  const results = persons.slice(offset, offset + limit).map(showPerson);
  return { results, ...personLinks(call, results.length) };
}

const CohortPersons = z.object({
  results: z.array(PersonShape),
  next: z.string().nullable(),
  previous: z.string().nullable(),
});

/** Cohorts of a project. Upstream PostHog/posthog posthog/api/cohort.py. */
export function cohortEndpoints(desk: ResourceDesk): Endpoint[] {
  const cohorts = sortedByProject(desk.worlds, "cohorts", {
    compare: newestFirst,
    has: ({ deleted }) => deleted !== true,
  });
  const filters = filtersOf(desk);
  const show = (cohort: Cohort) => showCohort(desk, cohort);
  const update = (isPatch: boolean) =>
    projectEndpoints(desk, {
      methods: [isPatch ? "PATCH" : "PUT"],
      path: "/cohorts/:id",
      summary: "Changes a cohort; deletes and restores it with `deleted`",
      scope: write,
      body: CohortBody,
      reply: CohortShape,
      handle({ project, param, body }) {
        const cohort = cohortNamed(desk, project, param("id"));
        return show(updateCohort(desk, cohort, body(), isPatch));
      },
    });
  return [
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: "/cohorts",
      summary: "Cohorts, newest first, without deleted ones",
      scope: read,
      query: [...pageQuery, ...filterQuery(filters)],
      reply: pageSchema(CohortShape),
      handle: ({ call, caller, project }) =>
        pageOf(call, filtered(call, caller, filters, cohorts(project.id)), show),
    }),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: "/cohorts",
      summary: "Creates a cohort",
      scope: write,
      status: 201,
      body: CohortBody,
      reply: CohortShape,
      handle: ({ caller, project, body }) => show(createCohort(desk, { caller, project, body: body() })),
    }),
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: "/cohorts/:id",
      summary: "A cohort",
      scope: read,
      reply: CohortShape,
      handle: ({ project, param }) => show(cohortNamed(desk, project, param("id"))),
    }),
    ...update(true),
    ...update(false),
    ...projectEndpoints(desk, {
      methods: ["DELETE"],
      path: "/cohorts/:id",
      summary: "Always refused: cohorts are deleted with PATCH",
      scope: write,
      status: 405,
      handle: () => undefined,
    }),
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: "/cohorts/:id/persons",
      summary: "The persons that a static cohort lists",
      scope: read,
      query: pageQuery,
      reply: CohortPersons,
      handle({ call, caller, project, param }) {
        requireScope(caller, "person:read");
        return personsOf(desk, call, cohortNamed(desk, project, param("id")));
      },
    }),
  ];
}
