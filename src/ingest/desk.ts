import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Places } from "../journal/places.ts";
import type { People } from "../people/people.ts";
import type { Dialect } from "../world/dialect.ts";
import type { Keyring } from "../world/keyring.ts";
import type { Project, Worlds } from "../world/world.ts";

/** All that a handler may touch. Made once, in sim.ts. */
export interface Desk {
  readonly worlds: Worlds;
  readonly people: People;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly dialect: Dialect;
  readonly keys: Keyring;
  /** Where addresses are. */
  readonly geoip: Places;
  /** The project of a key; with --adopt-tokens a well-formed unknown `phc_` key becomes a project here. */
  projectFor(token: string): Project | undefined;
  /** Was an event with this uuid already kept in the project? */
  seen(project: number, uuid: string): boolean;
  /** Batches that take several turns of the event loop and are not in the journal yet, by their items: what they have kept so far. */
  readonly underway: Map<
    readonly unknown[],
    { readonly project: number | null; readonly uuids: ReadonlySet<string> }
  >;
}
