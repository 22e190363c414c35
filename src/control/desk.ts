import type { Answers } from "../answers/answers.ts";
import type { DrivenExportEngine, ExportFiles } from "../exports/ports.ts";
import type { Faults } from "../faults/faults.ts";
import type { Feed } from "../feed/feed.ts";
import type { Stat } from "../feed/frames.ts";
import type { FlagBook } from "../flags/book.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { Agenda } from "../kernel/agenda.ts";
import type { ClockStart, SimClock } from "../kernel/clock.ts";
import type { Gauge } from "../kernel/gauge.ts";
import type { Desk } from "../model/desk.ts";
import type { World } from "../model/world.ts";
import type { ScenarioPeople } from "../scenario/scenario.ts";
import type { PeopleStore } from "../store/people.ts";
import type { Snapshots } from "../store/snapshots.ts";
import type { SwitchPart } from "../store/switch.ts";
import type { TrafficLog } from "../store/traffic-log.ts";
import type { WorldStore } from "../store/world.ts";
import type { Recordings } from "./recording-port.ts";
import type { Tapes } from "./tapes-desk.ts";

/** What the control endpoints may touch, besides what every handler may. */
export interface ControlDesk extends Omit<Desk, "people" | "worlds" | "clock"> {
  readonly people: PeopleStore;
  readonly worlds: WorldStore;
  readonly flagBook: FlagBook;
  readonly faults: Faults;
  readonly answers: Answers;
  readonly tapes: Tapes;
  readonly log: TrafficLog;
  /** The engine that runs batch exports, and the files it wrote. */
  readonly exports: { readonly engine: DrivenExportEngine; readonly files: ExportFiles };
  readonly gauge: Gauge;
  /** True if the sim outlives the tests: their reports link to the inspector. */
  readonly inspectable: boolean;
  /** Tells the user what should be known. */
  notice(text: string): void;
  /** Ends the program that runs the sim; absent where that is not the sim's business. */
  readonly stop: (() => void) | undefined;
  /** Ends when the sim closes: nothing waits any longer. */
  readonly closing: AbortSignal;
  /** The live feed; made when it is first asked for. */
  feed(): Promise<Feed>;
  /** How many mistakes the scenario's files have now, and the last edit of them that is in force. */
  scenario(): { readonly problems: number; readonly edit: Stat["scenario_edit"] };
  /** How many entries of the data folder cannot be read. */
  damageCount(): number;
  /** The facts of GET /__sim/info. */
  info(): Record<string, unknown>;
  /** Every row that is served, with its docs. */
  endpoints(): Promise<readonly Endpoint[]>;
  /** Back to the scenario; `parts` restricts what is reset, `addPeople` stores persons beside the scenario's. */
  reset(parts: ReadonlySet<ResetPart>, addPeople: (people: PeopleStore) => void): Promise<void>;
  /** Resolves when no request is half handled: between turns, with no batch in progress. */
  settled(): Promise<void>;
  /** Replaces this state with another, whole or not at all. @throws the system's error */
  switchTo(parts: readonly SwitchPart[]): void;
  /** The scenario's world, made anew. */
  scenarioWorld(): World;
  /** Stores the persons and groups of a project of the scenario; there must be none of them yet. */
  seedPeople(project: number): void;
  /** Those persons and groups. */
  scenarioPeople(): ScenarioPeople;
  readonly clock: SimClock;
  readonly agenda: Agenda;
  /** What a reset makes of the clock. */
  readonly clockStart: ClockStart;
  readonly snapshots: Snapshots;
  readonly recordings: Recordings;
}

export const resetParts = ["world", "people", "events", "faults", "answers", "clock"] as const;
export type ResetPart = (typeof resetParts)[number];
