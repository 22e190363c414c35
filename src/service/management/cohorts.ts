import { z } from "zod";
import { stringOf } from "../../kernel/base/text.ts";
import type { Call } from "../../kernel/http/call.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { cohortKind } from "../../state/documents/schemas/feature-flag.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Cohort } from "../../state/documents/world.ts";
import { documentNamed, found, requireScope } from "../api-frame/access.ts";
import type { ResourceDesk } from "../api-frame/desk.ts";
import { invalid, shownAs } from "../api-frame/fields.ts";
import { equalFilter, type ListFilter, pageQuery, searchFilter, windowOf } from "../api-frame/lists.ts";
import { resourceRows } from "../api-frame/resource.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../api-frame/row.ts";
import { newestFirst, sortedByProject } from "../api-frame/sorted.ts";
import { showUserOf } from "../api-frame/users.ts";
import {
  checkFlagUse,
  checkLoop,
  checkQuery,
  checkTree,
  checkUnused,
  dependenciesOf,
  isBehavioral,
  treeOf,
} from "../flags/management/cohort-rules.ts";
import { PersonShape, personLinks, showPerson } from "./persons.ts";

const CohortShape = cohortKind.Shown.meta({ title: "Cohort" });

const showCohort = (desk: ResourceDesk, cohort: Cohort): z.infer<typeof CohortShape> =>
  shownAs(CohortShape, {
    ...cohortKind.blank(cohort),
    filters: cohort.filters ?? { properties: treeOf(cohort) },
    is_calculating: false,
    created_by: showUserOf(desk, cohort.created_by ?? null),
    created_at: cohort.created_at ?? null,
    last_calculation: null,
    errors_calculating: 0,
    count: cohort.is_static === true ? (cohort.persons ?? []).length : null,
    cohort_type: null,
    experiment_set: [],
  });

type CohortBody = z.infer<typeof cohortKind.Writable>;

const changesIn = (body: CohortBody): Partial<Cohort> =>
  cohortKind.changes(body, { groups: (it) => (Array.isArray(it) ? it : undefined) });

function personsIn(desk: ResourceDesk, project: number, ids: readonly string[]): string[] {
  const known = ids.map((id) => id.toLowerCase()).filter((id) => desk.people.person(project, id));
  return [...new Set(known)];
}

/** @throws SimError with the service's text for what is wrong */
function checkFields(body: CohortBody, isStatic: boolean): void {
  if (body.filters !== undefined && !isStatic) checkTree(body.filters);
  if (body.query !== undefined) checkQuery(body.query);
}

function createCohort(desk: ResourceDesk, request: ProjectRequest<CohortBody>): Cohort {
  const { caller, project } = request;
  const body = request.body();
  const isStatic = body.is_static ?? false;
  checkFields(body, isStatic);
  if (body.query && body.filters) throw invalid("Cannot set both query and filters at the same time.");
  if (body.query && !isStatic) {
    throw invalid("Cannot create a dynamic cohort with a query. Set is_static to true.");
  }
  const persons = personsIn(desk, project.id, body._create_static_person_ids ?? []);
  return desk.worlds.change((draft) =>
    draft.put("cohorts", {
      ...cohortKind.blank({ id: draft.nextId("cohorts"), project: project.id }, wireTime(desk.clock.now())),
      ...changesIn(body),
      ...(isStatic && { persons }),
      created_by: caller.user.id,
    }),
  );
}

/** Changes a cohort; deletes and restores it with `deleted`. @throws SimError with the service's text for what is wrong */
function updateCohort(desk: ResourceDesk, cohort: Cohort, body: CohortBody, isPatch: boolean): Cohort {
  const { worlds } = desk;
  const isStatic = body.is_static ?? cohort.is_static ?? false;
  checkFields(body, isStatic || cohort.is_static === true);
  if (isPatch && body.filters !== undefined && !isStatic) checkFlagUse(worlds, cohort, body.filters);
  if (body.deleted === true && cohort.deleted !== true) checkUnused(worlds, cohort);
  const next: Cohort = { groups: [], ...cohort, ...changesIn(body) };
  checkLoop(worlds, next);
  return worlds.change((draft) => draft.put("cohorts", next));
}

const cohortNamed = (desk: ResourceDesk, { project, param }: ProjectRequest<unknown>): Cohort =>
  found(documentNamed(desk, "cohorts", project.id, param("id")));

const filtersOf = ({ worlds }: ResourceDesk): readonly ListFilter<Cohort>[] => [
  {
    name: "type",
    shape: z.string().describe("static or dynamic"),
    test([value]) {
      if (value !== "static" && value !== "dynamic") return undefined;
      return (cohort) => (cohort.is_static === true) === (value === "static");
    },
  },
  equalFilter("created_by_id", z.int().describe("Only what the user with this id made"), (it) =>
    stringOf(it.created_by),
  ),
  searchFilter("Part of the name, in any case", ({ name = null }) => [name]),
  {
    name: "hide_behavioral_cohorts",
    shape: z.string().describe("true leaves out what depends on events"),
    test: ([value]) =>
      value?.toLowerCase() === "true"
        ? (cohort) => ![cohort, ...dependenciesOf(worlds, cohort)].some(isBehavioral)
        : undefined,
  },
];

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

const path = `${projectRoot}/cohorts`;

/** Cohorts of a project. Upstream PostHog/posthog posthog/api/cohort.py. */
export function cohortEndpoints(desk: ResourceDesk): Endpoint[] {
  const cohorts = sortedByProject(desk.worlds, "cohorts", {
    compare: newestFirst,
    has: ({ deleted }) => deleted !== true,
  });
  const change = (isPatch: boolean) => ({
    summary: "Changes a cohort; deletes and restores it with `deleted`",
    body: cohortKind.Writable,
    handle: (request: ProjectRequest<CohortBody>) =>
      updateCohort(desk, cohortNamed(desk, request), request.body(), isPatch),
  });
  return [
    ...resourceRows(desk, {
      path,
      reads: inProject("cohort:read"),
      writes: inProject("cohort:write"),
      shape: CohortShape,
      show: (cohort) => showCohort(desk, cohort),
      filters: filtersOf(desk),
      all: ({ project }) => cohorts(project.id),
      list: { summary: "Cohorts, newest first, without deleted ones" },
      create: {
        summary: "Creates a cohort",
        body: cohortKind.Writable,
        handle: (request) => createCohort(desk, request),
      },
      read: { summary: "A cohort", handle: (request) => showCohort(desk, cohortNamed(desk, request)) },
      patch: change(true),
      put: change(false),
      remove: { summary: "Always refused: cohorts are deleted with PATCH" },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: `${path}/:id/persons`,
      summary: "The persons that a static cohort lists",
      access: inProject("cohort:read"),
      query: pageQuery,
      reply: CohortPersons,
      handle(request) {
        requireScope(request.caller, "person:read");
        return personsOf(desk, request.call, cohortNamed(desk, request));
      },
    }),
  ];
}
