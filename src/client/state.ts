import type { ResetPart } from "../control/desk.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { ControlCall } from "./call.ts";

export type { ResetPart };

/** A snapshot, told in short. */
export interface Snapshot {
  /** Upper and lower case are one. */
  name: string;
  created_at: string;
  persons: number;
  /** How many events could be seen. */
  events: number;
}

/** A snapshot in the list; of a damaged one perhaps only the name is known. */
export interface ListedSnapshot {
  name: string;
  created_at: string | null;
  persons: number | null;
  events: number | null;
  /** Why it cannot be restored; null when it can. */
  damaged: string | null;
}

export interface RestoredSnapshot extends Snapshot {
  /** False when the journal was emptied since then: its requests and events are gone. */
  has_events: boolean;
  /** Where the log ends now. */
  cursor: number;
  hint: string | null;
}

/** How much there is after an import. */
export interface ImportedState {
  projects: number;
  persons: number;
  groups: number;
  requests: number;
  events: number;
  cursor: number;
}

/** The whole state as JSON; treat it as opaque. */
export type ExportedState = JsonObject;

/** What is reset: all unless told. */
export interface ResetOptions {
  what?: readonly ResetPart[];
  /** Only this project's documents, people and events. */
  project?: number;
}

/** The part of the client that resets, copies and restores. */
export interface StateClient {
  /** Back to the scenario: documents, persons, events, faults, scripted answers, clock; a tape is rewound. @throws ControlError */
  reset(options?: ResetOptions): Promise<void>;
  /** Takes a named snapshot of documents, persons, groups and events; it replaces one with the name. */
  snapshot(name: string): Promise<Snapshot>;
  /**
   * Brings a snapshot back: documents, persons and groups as they were, and of the events those that could be
   * seen then. The clock, faults and exported files stay. @throws ControlError not_found
   */
  restore(name: string): Promise<RestoredSnapshot>;
  snapshots: {
    /** Oldest first. */
    list(): Promise<ListedSnapshot[]>;
    /** @throws ControlError not_found */
    delete(name: string): Promise<void>;
  };
  state: {
    /** Documents, persons with their ids, versions and hash keys, groups, and the journal with its events. */
    export(): Promise<ExportedState>;
    /**
     * Puts an exported state in the place of this one. Requests and events get the next numbers here.
     * @throws ControlError saying where it is wrong; then nothing has changed
     */
    import(state: ExportedState): Promise<ImportedState>;
  };
}

export function stateBy(call: ControlCall): StateClient {
  const at = (name: string, rest = "") => `snapshots/${encodeURIComponent(name)}${rest}`;
  return {
    reset: async (options = {}) => void (await call("POST", "reset", options)),
    snapshot: async (name) => {
      const { replaced: _, ...taken } = await call<Snapshot & { replaced: boolean }>("POST", "snapshots", {
        name,
      });
      return taken;
    },
    restore: (name) => call("POST", at(name, "/restore")),
    snapshots: {
      list: async () => (await call<{ snapshots: ListedSnapshot[] }>("GET", "snapshots")).snapshots,
      delete: async (name) => void (await call("DELETE", at(name))),
    },
    state: {
      export: () => call("GET", "state"),
      import: (state) => call("PUT", "state", state),
    },
  };
}
