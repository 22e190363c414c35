import type { Agenda } from "../base/agenda.ts";
import type { ClockStart, SimClock } from "../base/clock.ts";
import type { DrivenExportEngine, ExportFiles } from "../exports/ports.ts";
import type { Answers } from "../faults/answers.ts";
import type { Faults } from "../faults/rules.ts";
import type { FlagBook } from "../flags/flag-book.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { Gauge } from "../http/gauge.ts";
import type { Desk } from "../ingest/desk.ts";
import type { Feed } from "../journal/feed/feed.ts";
import type { TrafficLog } from "../journal/log/traffic-log.ts";
import type { PeopleStore } from "../people/people-store.ts";
import type { ScenarioPeople } from "../scenario/scenario.ts";
import type { ResetPart } from "../scenario/state/shapes.ts";
import type { Snapshots } from "../scenario/state/snapshot-store.ts";
import type { SwitchPart } from "../store/switch.ts";
import type { Recordings, TapePlayer } from "../tapes/ports.ts";
import type { World } from "../world/world.ts";
import type { WorldStore } from "../world/world-store.ts";

/** What the control endpoints use, in addition to what every handler has. */
export interface ControlDesk extends Omit<Desk, "people" | "worlds" | "clock"> {
  readonly people: PeopleStore;
  readonly worlds: WorldStore;
  readonly flagBook: FlagBook;
  readonly faults: Faults;
  readonly answers: Answers;
  readonly tapes: TapePlayer;
  readonly log: TrafficLog;
  /** The engine that runs batch exports, and the files it wrote. */
  readonly exports: { readonly engine: DrivenExportEngine; readonly files: ExportFiles };
  readonly gauge: Gauge;
  /** True if the sim outlives the tests: their reports link to the inspector. */
  readonly inspectable: boolean;
  /** Shows a notice to the user. */
  notice(text: string): void;
  /** Ends the program that runs the sim; absent where that is not the sim's business. */
  readonly stop: (() => void) | undefined;
  /** Ends when the sim closes: nothing waits any longer. */
  readonly closing: AbortSignal;
  /** The live feed; made when it is first asked for. */
  feed(): Promise<Feed>;
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
