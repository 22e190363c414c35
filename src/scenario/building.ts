import { type Path, pointerTo } from "../base/json-pointer.ts";
import type { Group, Person } from "../people/person.ts";
import {
  emptyWorld,
  type Organization,
  type Project,
  type SequenceName,
  type User,
  type World,
} from "../world/world.ts";
import { createNumbers, derivedUuid, type Numbers } from "./derive.ts";
import { createNames, type Names } from "./names.ts";
import type { Problem } from "./problems.ts";
import type { Scenario } from "./schema.ts";
import type { AuthoredFlag } from "./schemas/feature-flag.ts";
import type { AuthoredProject } from "./schemas/project.ts";

/** Persons and groups that are known before the first event. They are not part of the world. */
export interface ScenarioPeople {
  readonly persons: { readonly person: Person; readonly distinctIds: readonly string[] }[];
  /** In the order of the types' indexes. */
  readonly groupTypes: { readonly project: number; readonly name: string }[];
  readonly groups: Group[];
}

/** A world while it is made from a scenario. What is wrong is noted and the making goes on, to find the rest. */
export interface Building {
  readonly world: World;
  readonly people: ScenarioPeople;
  readonly problems: Problem[];
  /** By e-mail address, in lower case. */
  readonly users: Names<User>;
  /** By name and by id. */
  readonly organizations: Names<Organization>;
  /** By name and by id. */
  readonly projects: Names<Project>;
  /** Slugs that organizations give themselves. */
  readonly givenSlugs: ReadonlySet<string>;
  /**
   * Notes a problem, and returns false, when another document has claimed the value already; `what` keeps
   * kinds apart.
   */
  claim(what: string, value: string | number, at: Path): boolean;
  /** The document's number; `at` is the document's place. */
  number(sequence: SequenceName, given: number | undefined, at: Path): number;
  /** The uuid, by default one that follows from `name`; `at` is the uuid's own place. */
  uuid(name: string, given: string | undefined, at: Path): string;
  /** Id of the user with the address; of the first user when none is given; null for null. */
  author(email: string | null | undefined, at: Path): number | null;
  /** The highest number of each kind. */
  sequences(): World["sequences"];
}

type Numbered = { id?: number | undefined };

/** Where in a scenario documents of each kind stand, so that the numbers they give themselves are known first. */
const numbered: Record<SequenceName, (scenario: Scenario, projects: AuthoredProject[]) => Numbered[]> = {
  users: (scenario) => scenario.users ?? [],
  projects: (_, projects) => projects,
  dashboards: (_, projects) => projects.flatMap((it) => it.dashboards ?? []),
  tiles: (_, projects) => projects.flatMap((it) => (it.dashboards ?? []).flatMap(({ tiles }) => tiles ?? [])),
  texts: () => [],
  insights: (_, projects) => projects.flatMap((it) => it.insights ?? []),
  feature_flags: (_, projects) =>
    projects.flatMap((it) => Object.values(it.flags ?? {}).map((flag) => ({ id: idOf(flag) }))),
  cohorts: (_, projects) => projects.flatMap((it) => it.cohorts ?? []),
  batch_export_logs: () => [],
};

const idOf = (flag: AuthoredFlag): number | undefined =>
  typeof flag === "object" && flag.filters !== undefined ? flag.id : undefined;

const sequenceNames = Object.keys(numbered) as SequenceName[];

function numbersFor(scenario: Scenario): Record<SequenceName, Numbers> {
  const projects = scenario.organizations.flatMap((it) => it.projects);
  const rows = sequenceNames.map(
    (name) => [name, createNumbers(numbered[name](scenario, projects).map(({ id }) => id))] as const,
  );
  return Object.fromEntries(rows) as Record<SequenceName, Numbers>;
}

export function beginWorld(scenario: Scenario): Building {
  const world = emptyWorld();
  const problems: Problem[] = [];
  const users = createNames<User>("user", problems);
  const numbers = numbersFor(scenario);
  const claims = new Map<string, Path>();
  const derived = new Map<string, number>();

  function claim(what: string, value: string | number, at: Path): boolean {
    const claimed = `${what} ${value}`;
    const holder = claims.get(claimed);
    if (holder) problems.push({ at, text: `the same ${what} as ${pointerTo(holder)}` });
    else claims.set(claimed, at);
    return holder === undefined;
  }

  /** Documents that are called the same get different uuids. */
  function derive(name: string): string {
    const count = (derived.get(name) ?? 0) + 1;
    derived.set(name, count);
    return derivedUuid(count === 1 ? name : `${name}#${count}`);
  }

  return {
    world,
    people: { persons: [], groupTypes: [], groups: [] },
    problems,
    users,
    organizations: createNames("organization", problems),
    projects: createNames("project", problems),
    givenSlugs: new Set(scenario.organizations.flatMap(({ slug }) => slug ?? [])),
    claim,
    number(sequence, given, at) {
      if (given !== undefined) claim(`id in ${sequence}`, given, [...at, "id"]);
      return numbers[sequence].take(given);
    },
    uuid(name, given, at) {
      const uuid = given?.toLowerCase() ?? derive(name);
      claim("uuid", uuid, at);
      return uuid;
    },
    author(email, at) {
      if (email === null) return null;
      const user = email === undefined ? world.users[0] : users.find(email.toLowerCase(), at);
      return user?.id ?? null;
    },
    sequences: () =>
      Object.fromEntries(
        sequenceNames.map((name) => [name, numbers[name].highest]).filter(([, it]) => it !== 0),
      ),
  };
}
