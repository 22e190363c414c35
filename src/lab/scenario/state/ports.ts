import type { Agenda } from "../../../kernel/base/agenda.ts";
import type { SwitchPart } from "../../../kernel/store/switch.ts";
import type { TrafficLog } from "../../../state/journal/log/traffic-log.ts";
import type { PersonStore } from "../../../state/persons/person-store.ts";
import type { ResetPorts } from "../../test-projects/ports.ts";
import type { Snapshots } from "./snapshots.ts";

export const resetParts = ["world", "people", "events", "faults", "answers", "clock"] as const;
export type ResetPart = (typeof resetParts)[number];

export interface SnapshotPorts {
  readonly snapshots: Snapshots;
  readonly clock: { now(): number };
  readonly log: { readonly lastSeq: number };
  readonly agenda: Pick<Agenda, "changed">;
  /** Resolves when no request is half handled. */
  settled(): Promise<void>;
}

export interface StatePorts extends SnapshotPorts, ResetPorts {
  readonly clock: ResetPorts["clock"];
  readonly log: TrafficLog;
  info(): Record<string, unknown>;
  /** Ends the program that runs the sim; undefined if the sim may not end it. */
  readonly stop: (() => void) | undefined;
  readonly traffic: {
    capture(project: number): Promise<void>;
    /** Runs work that captures it, after other such work. */
    inTurn(work: () => Promise<void>): Promise<void>;
  };
  /** Resets these parts to the scenario. `addPersons` stores further persons. */
  reset(parts: ReadonlySet<ResetPart>, addPersons: (people: PersonStore) => void): Promise<void>;
  /** Replaces the state as a whole, or not at all. @throws the system's error */
  switchTo(parts: readonly SwitchPart[]): void;
}
