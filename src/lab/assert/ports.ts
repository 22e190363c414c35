import type { Gauge } from "../../kernel/http/gauge.ts";
import type { WorldStore } from "../../state/documents/world-store.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { LateEvents } from "./late-events.ts";
import type { RecentRequests } from "./recent-requests.ts";

export interface SimPorts {
  readonly log: TrafficLog;
  readonly worlds: Pick<WorldStore, "projectById">;
  readonly gauge: Gauge;
  readonly clock: { now(): number };
  readonly faults: {
    list(): readonly {
      readonly name: string;
      readonly state: string;
      readonly match: { readonly project?: number | undefined };
    }[];
  };
  /** Projects of tests that have ended. */
  readonly ended: {
    readonly isEmpty: boolean;
    /** A project of a test that has not ended. */
    running(project: number): { readonly owner: string | undefined; readonly begunAt: number } | undefined;
    /** By its public key, or its number. */
    find(
      name: string,
    ): { readonly name: string; readonly owner: string | undefined; readonly endedAt: number } | undefined;
    /** True if no other project of a test existed when the request came. */
    wasAlone(request: number, project: number): boolean;
  };
  readonly closing: AbortSignal;
  /** True if the sim outlives the tests: reports link to the inspector. */
  readonly inspectable: boolean;
  notice(text: string): void;
}

/** With what all waits share. */
export interface AssertPorts extends Omit<SimPorts, "notice"> {
  readonly dispatcher: Dispatcher;
  readonly lateEvents: LateEvents;
  readonly recent: RecentRequests;
}

export interface AssertingPorts {
  readonly asserting: AssertPorts;
}
