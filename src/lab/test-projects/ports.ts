import type { SimClock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Keyring } from "../../state/documents/keyring.ts";
import type { BatchExport, World } from "../../state/documents/world.ts";
import type { WorldStore } from "../../state/documents/world-store.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";

interface Log {
  readonly lastRequest: number;
  /** Hides the events of a project. */
  forget(project: number): void;
  commit(): void;
}

import type { EndedProjects } from "./ended-projects.ts";

interface Faults {
  readonly active: boolean;
  list(): readonly { readonly id: string; readonly match: { readonly project?: number | undefined } }[];
  clear(id: string): unknown;
}

export interface ResetPorts {
  readonly worlds: WorldStore;
  readonly people: PersonStore;
  readonly log: Log;
  readonly clock: SimClock;
  readonly faults: Faults;
  readonly answers: { clear(place: { readonly project: number }): unknown };
  readonly authored: {
    world(): World;
    /** Stores the scenario's persons and groups of a project; the project must not have any. */
    seedPersons(project: number): void;
  };
}

export const resetNeeds = ["worlds", "people", "log", "clock", "faults", "answers", "authored"] as const;

export interface ProjectPorts extends ResetPorts {
  readonly ids: Ids;
  readonly keys: Keyring;
  readonly ended: EndedProjects;
  readonly rulesets: { forget(project: number): void };
  onProject(project: { id: number; name: string | null }): void;
  readonly exports: { readonly engine: { scheduled(batchExport: BatchExport): void } };
}
