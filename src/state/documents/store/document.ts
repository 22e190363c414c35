import {
  type CollectionName,
  collections,
  type DocumentOf,
  type Draft,
  emptyWorld,
  type StoredProject,
  type World,
} from "../world.ts";
import { collectionOf, Sequences } from "./sequences.ts";

export type Id = number | string;

interface Stored {
  readonly id: Id;
}

export type Step = { put: CollectionName; document: Stored } | { remove: CollectionName; id: Id };

const targetOf = (step: Step): readonly [CollectionName, Id] =>
  "put" in step ? [step.put, step.document.id] : [step.remove, step.id];

type Commit = (steps: readonly Step[], undo: () => void) => void;

export const worldKeys: readonly (keyof World)[] = Object.keys(emptyWorld()) as (keyof World)[];

export const isCollection = (key: unknown): key is CollectionName => collections.some((name) => name === key);

const fixedKeys = worldKeys.filter((key) => !isCollection(key) && key !== "sequences");

class Collection {
  /** A Map keeps the position of a replaced document. */
  #byId = new Map<Id, Stored>();
  #list: readonly Stored[] | undefined;
  version = 0;

  get list(): readonly Stored[] {
    this.#list ??= [...this.#byId.values()];
    return this.#list;
  }

  get(id: Id): Stored | undefined {
    return this.#byId.get(id);
  }

  put(document: Stored): void {
    this.#byId.set(document.id, document);
    this.#list = undefined;
    this.version++;
  }

  remove(id: Id): void {
    this.#byId.delete(id);
    this.#list = undefined;
    this.version++;
  }

  load(list: readonly Stored[]): void {
    this.#byId = new Map(list.map((it) => [it.id, it]));
    this.#list = list;
    this.version++;
  }
}

interface Running {
  steps: Step[];
  undo: (() => void)[];
  restored: Set<CollectionName>;
}

/** The live world: one object that follows every change. It is the data of the lowdb database. */
export class WorldDocument {
  /** The document as a plain object, as world.json holds it; its values are always current. */
  readonly view: World;
  readonly #collections = new Map(collections.map((name) => [name, new Collection()]));
  #fixed: Partial<World> = {};
  #sequences = new Sequences({});
  #projects: { version: number; byKey: ReadonlyMap<string, StoredProject> } | undefined;
  #running: Running | undefined;

  constructor(world: World) {
    this.view = Object.defineProperties(
      {},
      Object.fromEntries(worldKeys.map((key) => [key, { enumerable: true, get: () => this.#value(key) }])),
    ) as World; // Each getter returns the value of its key.
    this.load(world);
  }

  #value(key: keyof World): unknown {
    if (isCollection(key)) return this.#of(key).list;
    return key === "sequences" ? this.#sequences.known() : this.#fixed[key];
  }

  #of(name: CollectionName): Collection {
    const collection = this.#collections.get(name);
    if (!collection) throw new Error(`no collection ${name}`);
    return collection;
  }

  get<C extends CollectionName>(name: C, id: DocumentOf<C>["id"]): DocumentOf<C> | undefined {
    // The collection determines the type.
    return this.#of(name).get(id) as DocumentOf<C> | undefined;
  }

  versionOf(name: CollectionName): number {
    return this.#of(name).version;
  }

  projectByKey(apiKey: string): StoredProject | undefined {
    return this.#projectsByKey().get(apiKey);
  }

  #projectsByKey(): ReadonlyMap<string, StoredProject> {
    const { list, version } = this.#of("projects");
    if (this.#projects?.version !== version) {
      const projects = list as readonly StoredProject[];
      this.#projects = { version, byKey: new Map(projects.map((it) => [it.api_key, it])) };
    }
    return this.#projects.byKey;
  }

  /** Replaces the whole world. @throws Error when two documents have the same id, or two projects the same key */
  load(world: World): void {
    const clash = clashOf(world);
    if (clash) throw new Error(clash);
    for (const name of collections) this.#of(name).load([...world[name]]);
    this.#fixed = Object.fromEntries(fixedKeys.map((key) => [key, world[key]]));
    this.#sequences = new Sequences(world.sequences);
  }

  apply(step: Step): void {
    const [name, id] = targetOf(step);
    const collection = this.#of(name);
    const before = collection.get(id);
    if (before) this.#sequences.see(name, before);
    if ("put" in step) {
      this.#sequences.see(name, step.document);
      collection.put(step.document);
    } else if (before) collection.remove(id);
  }

  grownSequences(): Record<string, number> {
    return this.#sequences.grown();
  }

  raiseSequences(highest: Readonly<Record<string, number>>): void {
    this.#sequences.raise(highest);
  }

  /** Applies all steps of an edit, or none when the edit, the check or `commit` throws. */
  change<T>(edit: (draft: Draft) => T, commit: Commit): T {
    if (this.#running) throw new Error("a change within a change");
    const running: Running = { steps: [], undo: [], restored: new Set() };
    const undo = () => {
      for (const step of running.undo.reverse()) step();
    };
    this.#running = running;
    try {
      const result = edit(this.#draft);
      const { projects } = this.view;
      if (this.#projectsByKey().size < projects.length) throw new Error(projectClash(projects));
      commit(running.steps, undo);
      return result;
    } catch (error) {
      undo();
      throw error;
    } finally {
      this.#running = undefined;
    }
  }

  readonly #draft: Draft = {
    put: (collection, document) => {
      this.#step({ put: collection, document });
      return document;
    },
    remove: (collection, id) => this.#step({ remove: collection, id }),
    nextId: (sequence) => {
      this.#now();
      return this.#sequences.next(sequence, () => this.#of(collectionOf(sequence)).list);
    },
  };

  #now(): Running {
    if (!this.#running) throw new Error("a draft is of use only while `change` runs");
    return this.#running;
  }

  #step(step: Step): void {
    const { steps, undo, restored } = this.#now();
    const [name, id] = targetOf(step);
    const collection = this.#of(name);
    const before = collection.get(id);
    if ("put" in step) {
      undo.push(() => (before ? collection.put(before) : collection.remove(id)));
    } else if (!before) {
      return;
    } else if (!restored.has(name)) {
      const { list } = collection;
      undo.push(() => collection.load(list));
      restored.add(name);
    }
    this.apply(step);
    steps.push(step);
  }
}

export function clashOf(world: World): string | undefined {
  const projects = projectClash(world.projects);
  if (projects) return projects;
  for (const name of collections) {
    const seen = new Set<Id>();
    for (const { id } of world[name]) {
      if (seen.has(id)) return `two documents of "${name}" have the same id ${JSON.stringify(id)}`;
      seen.add(id);
    }
  }
  return undefined;
}

function projectClash(projects: readonly StoredProject[]): string | undefined {
  const owners = { api_key: new Map<unknown, StoredProject>(), id: new Map<unknown, StoredProject>() };
  for (const project of projects)
    for (const what of ["api_key", "id"] as const) {
      const owner = owners[what].get(project[what]);
      const value = JSON.stringify(project[what]);
      if (owner) return `projects ${nameOf(owner)} and ${nameOf(project)} have the same ${what} ${value}`;
      owners[what].set(project[what], project);
    }
  return undefined;
}

const nameOf = (project: StoredProject): string => `${JSON.stringify(project.name)} (${project.id})`;
