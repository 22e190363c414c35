import { SimError } from "../../kernel/base/errors.ts";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import type { Json } from "../../kernel/base/json.ts";
import { derived } from "../../state/documents/derived.ts";
import type { Cohort, StoredProject, Worlds } from "../../state/documents/world.ts";
import type { Person } from "../../state/persons/person.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import { compileCohorts, isMember, noCohorts } from "../flags/engine/cohorts.ts";
import { defaultMatching } from "../flags/engine/operators.ts";
import { FlagFailure } from "../flags/engine/reasons.ts";
import type { EvaluationRun, Subject } from "../flags/engine/run.ts";
import type { ProjectFacts } from "./kind.ts";
import { actionOf, experimentOf } from "./named-documents.ts";

interface FactPorts {
  readonly worlds: Worlds;
  readonly people: PersonStore;
}

const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

const subjectOf = (person: Person, now: number): Subject => ({
  distinctId: person.uuid,
  deviceId: undefined,
  anonymousId: undefined,
  now,
  continuityKey: () => undefined,
  property: (name) => (Object.hasOwn(person.properties, name) ? person.properties[name] : undefined),
  metadata: (name) => (name === "created_at" ? new Date(person.created_at).toISOString() : undefined),
  personId: () => person.uuid,
  group: () => undefined,
});

/** The time zone, the first day of the week, the cohorts and the people of projects. */
export function createProjectFacts({ worlds, people }: FactPorts) {
  const cohortsOf = derived(worlds, ["cohorts"], () => {
    const byProject = groupedBy(worlds.current.cohorts, (it) => it.project);
    return new Map([...byProject].map(([project, its]) => [project, compileCohorts(its, defaultMatching)]));
  });

  /** Membership of a cohort, by its rules or its list. */
  function membersOf(cohort: Cohort, now: number): (person: string) => boolean {
    const cohorts = cohortsOf().get(cohort.project) ?? noCohorts;
    const runOf = (person: Person): EvaluationRun => ({
      id: {},
      subject: subjectOf(person, now),
      cohorts,
      bucketOf: () => 0,
      values: new Map(),
      members: undefined,
      recorder: undefined,
    });
    return (uuid) => {
      const person = people.person(cohort.project, uuid);
      try {
        return person !== undefined && isMember(runOf(person), cohort.id);
      } catch (error) {
        if (!(error instanceof FlagFailure)) throw error;
        throw new SimError("invalid_input", `Cohort ${cohort.id} cannot be computed: ${error.message}`);
      }
    };
  }

  return (project: StoredProject, now: number): ProjectFacts => ({
    timeZone: project.timezone,
    weekStart: project.settings.week_start_day === 1 ? 1 : 0,
    testAccountFilters: listIn(project.settings.test_account_filters),
    action: (id) => actionOf(worlds, project.id, id),
    experiment: (id) => experimentOf(worlds, project.id, id),
    cohort(id) {
      const cohort = worlds.get("cohorts", id);
      if (!cohort || cohort.deleted === true || cohort.project !== project.id) return undefined;
      return { name: cohort.name ?? "", has: membersOf(cohort, now) };
    },
    person: (uuid) => people.person(project.id, uuid),
    persons: () => people.allPersons(project.id),
    groups: () => people.allGroups(project.id),
  });
}
