import type { StoredProject } from "../world/world.ts";

/** A project of a test that has ended. */
export interface EndedProject {
  readonly name: string;
  /** The process whose test it was; undefined: not known. */
  readonly owner: string | undefined;
  /** ms of real time. */
  readonly endedAt: number;
}

/** Ended projects that are remembered. */
const mostRemembered = 10_000;

/** Remembers whose keys those of ended projects were: an SDK that two tests share goes on using them. */
export class EndedProjects {
  readonly #owners = new Map<number, string>();
  readonly #byKey = new Map<string, EndedProject>();

  /** Notes the process of a new project. */
  begin(project: number, owner: string | null | undefined): void {
    if (owner) this.#owners.set(project, owner);
  }

  end({ id, name, api_key }: StoredProject): void {
    this.#byKey.set(api_key, { name, owner: this.#owners.get(id), endedAt: Date.now() });
    this.#owners.delete(id);
    const [oldest] = this.#byKey.keys();
    if (this.#byKey.size > mostRemembered && oldest !== undefined) this.#byKey.delete(oldest);
  }

  /** The process of a project that has not ended. */
  ownerOf(project: number): string | undefined {
    return this.#owners.get(project);
  }

  find(apiKey: string): EndedProject | undefined {
    return this.#byKey.get(apiKey);
  }

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }
}
