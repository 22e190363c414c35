import { z } from "zod";
import { wireTime } from "../../model/time.ts";
import type { Cohort, Project } from "../../model/world.ts";
import type { Caller } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { boolean, json, list, text } from "../fields.ts";
import { given } from "../given.ts";
import { invalid } from "../invalid.ts";
import { checkFlagUse, checkLoop, checkQuery, checkTree, checkUnused } from "./rules.ts";

/** What may be written, in the order in which the service checks it. */
export const CohortBody = z.object({
  name: text({ max: 400, blank: true }).nullable().optional(),
  description: text({ max: 1000, blank: true }).optional(),
  groups: json().optional(),
  deleted: boolean().optional(),
  filters: json().optional(),
  query: json().optional(),
  is_static: boolean().optional(),
  /** Uuids of persons; those that the project does not have are left out. */
  _create_static_person_ids: list(text()).optional(),
});
type CohortBody = z.infer<typeof CohortBody>;

const groupsOf = ({ groups }: CohortBody, cohort?: Cohort) =>
  Array.isArray(groups) ? groups : (cohort?.groups ?? []);

function personsIn(desk: ResourceDesk, project: number, ids: readonly string[]): string[] {
  const known = ids.map((id) => id.toLowerCase()).filter((id) => desk.people.person(project, id));
  return [...new Set(known)];
}

/** @throws SimError with the service's text for what is wrong */
function checkFields(body: CohortBody, isStatic: boolean): void {
  if (body.filters !== undefined && !isStatic) checkTree(body.filters);
  if (body.query !== undefined) checkQuery(body.query);
}

export function createCohort(
  desk: ResourceDesk,
  { caller, project, body }: { caller: Caller; project: Project; body: CohortBody },
): Cohort {
  const isStatic = body.is_static ?? false;
  checkFields(body, isStatic);
  if (body.query && body.filters) throw invalid("Cannot set both query and filters at the same time.");
  if (body.query && !isStatic) {
    throw invalid("Cannot create a dynamic cohort with a query. Set is_static to true.");
  }
  const persons = personsIn(desk, project.id, body._create_static_person_ids ?? []);
  return desk.worlds.change((draft) =>
    draft.put("cohorts", {
      id: draft.nextId("cohorts"),
      project: project.id,
      name: body.name ?? null,
      description: body.description ?? "",
      groups: groupsOf(body),
      deleted: body.deleted ?? false,
      filters: body.filters ?? null,
      query: body.query ?? null,
      is_static: isStatic,
      ...(isStatic && { persons }),
      created_at: wireTime(desk.clock.now()),
      created_by: caller.user.id,
    }),
  );
}

/**
 * Changes a cohort; deletes and restores it with `deleted`.
 * @throws SimError with the service's text for what is wrong
 */
export function updateCohort(desk: ResourceDesk, cohort: Cohort, body: CohortBody, isPatch: boolean): Cohort {
  const { worlds } = desk;
  const isStatic = body.is_static ?? cohort.is_static ?? false;
  checkFields(body, isStatic || cohort.is_static === true);
  if (isPatch && body.filters !== undefined && !isStatic) checkFlagUse(worlds, cohort, body.filters);
  if (body.deleted === true && cohort.deleted !== true) checkUnused(worlds, cohort);
  const next: Cohort = {
    ...cohort,
    ...given(body, ["name", "description", "deleted", "filters", "query", "is_static"]),
    groups: groupsOf(body, cohort),
  };
  checkLoop(worlds, next);
  return worlds.change((draft) => draft.put("cohorts", next));
}
