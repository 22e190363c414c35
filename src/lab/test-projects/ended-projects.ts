import type { StoredProject } from "../../state/documents/world.ts";

interface RunningProject {
  /** The process whose test it is; undefined: not known. */
  readonly owner: string | undefined;
  /** ms of real time. */
  readonly begunAt: number;
}

export interface EndedProject {
  readonly name: string;
  readonly key: string;
  /** The process whose test it was; undefined: not known. */
  readonly owner: string | undefined;
  /** ms of real time. */
  readonly endedAt: number;
  /** The last requests before it began, and before it ended. */
  readonly after: number;
  readonly until: number;
}

/** Ended projects that are remembered. */
const mostRemembered = 10_000;

/** Remembers whose keys those of ended projects were: an SDK that two tests share goes on using them. */
export class EndedProjects {
  readonly #running = new Map<number, RunningProject & { readonly after: number }>();
  readonly #ended = new Map<number, EndedProject>();
  readonly #byName = new Map<string, number>();

  /** Notes the process of a new project, and the last request before it. */
  begin(project: number, owner: string | null | undefined, lastRequest: number): void {
    this.#running.set(project, { owner: owner ?? undefined, begunAt: Date.now(), after: lastRequest });
  }

  end({ id, name, api_key }: StoredProject, lastRequest: number): void {
    const { owner, after = 0 } = this.#running.get(id) ?? {};
    this.#ended.set(id, { name, key: api_key, owner, endedAt: Date.now(), after, until: lastRequest });
    this.#byName.set(api_key, id).set(String(id), id);
    this.#running.delete(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > mostRemembered && oldest) this.#forget(...oldest);
  }

  #forget(id: number, { key }: EndedProject): void {
    this.#ended.delete(id);
    this.#byName.delete(key);
    this.#byName.delete(String(id));
  }

  /** A test's project that has not ended. */
  running(project: number): RunningProject | undefined {
    return this.#running.get(project);
  }

  /** By its public key, or its number. */
  find(name: string): EndedProject | undefined {
    const id = this.#byName.get(name);
    return id === undefined ? undefined : this.#ended.get(id);
  }

  /** True if no other project of a test existed when the request came. */
  wasAlone(request: number, project: number): boolean {
    for (const [id, { after }] of this.#running) if (id !== project && after < request) return false;
    for (const { after, until } of this.#ended.values()) if (after < request && request <= until) return false;
    return true;
  }

  get isEmpty(): boolean {
    return this.#ended.size === 0;
  }
}
