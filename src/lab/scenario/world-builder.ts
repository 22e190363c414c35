import { createHash } from "node:crypto";
import { uuidV5 } from "../../kernel/base/ids.ts";
import { type Path, pointerTo } from "../../kernel/base/json.ts";
import { createGuesses } from "../../kernel/base/nearest.ts";
import type { AuthoredForm } from "../../state/documents/new-document.ts";
import { numberedKinds } from "../../state/documents/resources.ts";
import { tidyTags } from "../../state/documents/tags.ts";
import { wireTime } from "../../state/documents/time.ts";
import {
  type DocumentSequence,
  emptyWorld,
  type Organization,
  type SequenceName,
  type StoredProject,
  type User,
} from "../../state/documents/world.ts";
import type { Group, Person } from "../../state/persons/person.ts";
import type { RawProblem } from "./problems.ts";
import type { AuthoredFlag, AuthoredProject } from "./project-schema.ts";
import type { Scenario } from "./schema.ts";

/** Persons and groups of a scenario. They are not part of the world. */
export interface ScenarioPersons {
  readonly persons: { readonly person: Person; readonly distinctIds: readonly string[] }[];
  /** In the order of the types' indexes. */
  readonly groupTypes: { readonly project: number; readonly name: string }[];
  readonly groups: Group[];
}

/** The time of everything without a time in the scenario: the same scenario makes the same world. */
export const beginning = "2025-01-01T00:00:00Z";

const wireShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/;

/** A time in the world's form (world/time.ts); given microseconds stay. */
export const timeOr = <T extends string | null>(time: string | null | undefined, otherwise: T): string | T =>
  typeof time !== "string" ? otherwise : wireShape.test(time) ? time : wireTime(Date.parse(time));

/** Adds each thing of a list, with its place. */
export function each<T>(list: readonly T[] | undefined, at: Path, add: (it: T, at: Path, i: number) => void): void {
  for (const [i, it] of (list ?? []).entries()) add(it, [...at, i], i);
}

/** Ids without a value in the scenario are derived from names: the same file, the same ids. */
const namespace = "5f3b2f4e-6c56-4d0a-9a53-5a0f6b3f9c01";

const digest = (name: string): string =>
  createHash("sha256").update(namespace).update(name, "utf8").digest("base64url");

/** A token of 30 characters of `[A-Za-z0-9_-]`, like the service's access tokens. */
export const derivedToken = (name: string): string => digest(name).slice(0, 30);

/** `length` letters and digits, at most 20. */
export const derivedLetters = (name: string, length: number): string =>
  digest(name).replace(/[-_]/g, "").slice(0, length);

/** Documents by the names and ids that a scenario uses for them. */
export class Names<T> {
  readonly #noun: string;
  readonly #problems: RawProblem[];
  readonly #byId = new Map<string, T>();
  readonly #byName = new Map<string, T[]>();
  readonly #guesses = createGuesses();

  /** @param noun For problems: `insight` */
  constructor(noun: string, problems: RawProblem[]) {
    this.#noun = noun;
    this.#problems = problems;
  }

  /** The first document with an id is found by it; a repeated id is reported elsewhere. */
  add(document: T, { name, id }: { name?: string | null; id?: string | number }): void {
    if (id !== undefined && !this.#byId.has(String(id))) this.#byId.set(String(id), document);
    if (typeof name === "string") this.#byName.set(name, [...(this.#byName.get(name) ?? []), document]);
  }

  /** The only document with this name; none is no problem. */
  get(name: string): T | undefined {
    const found = this.#byName.get(name) ?? [];
    return found.length === 1 ? found[0] : undefined;
  }

  /** The document with this name or id; no document, or more than one, is a problem. */
  find(called: string | number, at: Path): T | undefined {
    const key = String(called);
    const withId = this.#byId.get(key);
    const found = new Set([...(withId === undefined ? [] : [withId]), ...(this.#byName.get(key) ?? [])]);
    const shown = JSON.stringify(called);
    if (found.size > 1) this.#problems.push({ at, text: `${found.size} ${this.#noun}s are called ${shown}` });
    if (found.size === 0) {
      const hint = typeof called === "string" ? this.#meant(key) : undefined;
      const text = `unknown ${this.#noun} ${shown}`;
      this.#problems.push({ at, text, ...(hint !== undefined && { hint }) });
    }
    return [...found][0];
  }

  #meant(key: string): string | undefined {
    const [names, ids] = [this.#byName, this.#byId];
    return this.#guesses.meant(key, () => [...names.keys(), ...ids.keys()], names.size + ids.size);
  }
}

type Numbered = { id?: number | undefined };

/** All documents of each sequence, so that the numbers given in the scenario are known first. */
const numbered: Record<DocumentSequence, (scenario: Scenario, projects: AuthoredProject[]) => Numbered[]> = {
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

/** The ids of resources; web experiments are experiments. */
const idsOf = (kind: string, projects: readonly AuthoredProject[]): unknown[] =>
  (projects as readonly Record<string, unknown>[]).flatMap((it) =>
    [it[kind], kind === "experiments" && it.web_experiments].flatMap((list) =>
      Array.isArray(list) ? list.map(({ id }) => id) : [],
    ),
  );

/** A world during its construction. Problems are collected, and construction continues, to find the rest. */
export class WorldBuilder {
  readonly world = emptyWorld();
  readonly people: ScenarioPersons = { persons: [], groupTypes: [], groups: [] };
  readonly problems: RawProblem[] = [];
  /** By e-mail address, in lower case. */
  readonly users = new Names<User>("user", this.problems);
  readonly organizations = new Names<Organization>("organization", this.problems);
  readonly projects = new Names<StoredProject>("project", this.problems);
  readonly givenSlugs: ReadonlySet<string>;
  readonly #givenNumbers: ReadonlyMap<SequenceName, ReadonlySet<unknown>>;
  readonly #highest = new Map<SequenceName, number>();
  readonly #claims = new Map<string, Path>();
  readonly #derived = new Map<string, number>();

  constructor(scenario: Scenario) {
    const projects = scenario.organizations.flatMap((it) => it.projects);
    this.givenSlugs = new Set(scenario.organizations.flatMap(({ slug }) => slug ?? []));
    const sequences = Object.entries(numbered) as [DocumentSequence, (typeof numbered)["users"]][];
    this.#givenNumbers = new Map<SequenceName, ReadonlySet<unknown>>([
      ...sequences.map(
        ([name, documents]) => [name, new Set(documents(scenario, projects).map(({ id }) => id))] as const,
      ),
      ...[...numberedKinds].map((kind) => [`resources/${kind}`, new Set(idsOf(kind, projects))] as const),
    ]);
  }

  /** Returns false, and notes a problem, if another document has this value; `what` separates kinds of values. */
  claim(what: string, value: string | number, at: Path): boolean {
    const claimed = `${what} ${value}`;
    const holder = this.#claims.get(claimed);
    if (holder) this.problems.push({ at, text: `the same ${what} as ${pointerTo(holder)}` });
    else this.#claims.set(claimed, at);
    return holder === undefined;
  }

  /** The given number, or the next one that no document has in the scenario; `at` is the document's place. */
  number(sequence: SequenceName, given: number | undefined, at: Path): number {
    if (given !== undefined) this.claim(`id in ${sequence}`, given, [...at, "id"]);
    const highest = this.#highest.get(sequence) ?? 0;
    let number = given ?? highest + 1;
    while (given === undefined && this.#givenNumbers.get(sequence)?.has(number)) number++;
    this.#highest.set(sequence, Math.max(highest, number));
    return number;
  }

  /** The given uuid, or one derived from `name`; `at` is the uuid's own place. */
  uuid(name: string, given: string | undefined, at: Path): string {
    const uuid = given?.toLowerCase() ?? this.#derivedUuid(name);
    this.claim("uuid", uuid, at);
    return uuid;
  }

  /** Id of the user with this address (default: the first user); null for null. */
  author(email: string | null | undefined, at: Path): number | null {
    if (email === null) return null;
    const user = email === undefined ? this.world.users[0] : this.users.find(email.toLowerCase(), at);
    return user?.id ?? null;
  }

  /** The fields of the document that a scenario sets: wire times, tidy tags, ids of users. */
  fields<D>(
    kind: { readonly authored: Readonly<Record<string, AuthoredForm>>; blank(given: never, time?: string): D },
    authored: Readonly<Record<string, unknown>>,
    at: Path,
  ): Partial<D> {
    const values = Object.entries(kind.authored).flatMap(([name, form]) => {
      const value = authored[name];
      if (form === "user") return [[name, this.author(value as string | null | undefined, [...at, name])]];
      if (value === undefined) return [];
      if (form === "time") return [[name, timeOr(value as string | null, null)]];
      return [[name, form === "tags" ? tidyTags(value as string[]) : value]];
    });
    // each value has the shape of its field
    return Object.fromEntries(values) as Partial<D>;
  }

  sequences(): Record<string, number> {
    return Object.fromEntries(this.#highest);
  }

  /** Documents with the same name get different uuids. */
  #derivedUuid(name: string): string {
    const count = (this.#derived.get(name) ?? 0) + 1;
    this.#derived.set(name, count);
    return uuidV5(namespace, count === 1 ? name : `${name}#${count}`);
  }
}
