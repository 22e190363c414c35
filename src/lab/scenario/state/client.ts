import type { JsonObject } from "../../../kernel/base/json.ts";
import type { ControlCall } from "../../../kernel/call/call.ts";
import { keysOf, knownOptions } from "../../../kernel/call/option-keys.ts";
import type { ResetPart } from "./ports.ts";
import type { ImportedState, ListedSnapshot, Snapshot, SnapshotRestored, SnapshotTaken } from "./shapes.ts";

export type { ImportedState, ListedSnapshot, ResetPart, Snapshot, SnapshotRestored as RestoredSnapshot };

/** The whole state as JSON; treat it as opaque. */
export type ExportedState = JsonObject;

export interface ResetOptions {
  /** Default: all parts. */
  what?: readonly ResetPart[];
  /** Only this project's documents, people and events. */
  project?: number;
}

/** The parts of the client that reset, copy and restore the state. */
export interface StateClient {
  /** Resets documents, persons, events, faults, scripted answers and the clock to the scenario; a tape is rewound. @throws ControlError */
  reset(options?: ResetOptions): Promise<void>;
  /** Takes a named snapshot of documents, persons, groups and events; replaces one with the same name. */
  snapshot(name: string): Promise<Snapshot>;
  /**
   * Restores documents, persons and groups, and shows the events that were visible then. The clock, faults and
   * exported files stay. @throws ControlError not_found
   */
  restore(name: string): Promise<SnapshotRestored>;
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
     * Replaces the state with an exported one. Requests and events get the next numbers of this sim.
     * @throws ControlError with a pointer to the mistake; then nothing has changed
     */
    import(state: ExportedState): Promise<ImportedState>;
  };
}

export function stateBy(call: ControlCall): StateClient {
  const at = (name: string, rest = "") => `snapshots/${encodeURIComponent(name)}${rest}`;
  return withOptions({
    reset: async (options = {}) => void (await call("POST", "reset", options)),
    snapshot: async (name) => {
      const { replaced: _, ...taken } = await call<SnapshotTaken>("POST", "snapshots", { name });
      return taken;
    },
    restore: (name) => call("POST", at(name, "/restore")),
    snapshots: {
      list: async () => (await call<{ snapshots: ListedSnapshot[] }>("GET", "snapshots")).snapshots,
      delete: async (name) => void (await call("DELETE", at(name))),
    },
    state: { export: () => call("GET", "state"), import: (state) => call("PUT", "state", state) },
  });
}

const withOptions = knownOptions<StateClient>("", { reset: [keysOf<ResetOptions>({ what: true, project: true })] });
