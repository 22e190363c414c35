import type { TimeSource } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Dialect } from "../../state/documents/dialect.ts";
import type { Keyring } from "../../state/documents/keyring.ts";
import type { StoredProject, Worlds } from "../../state/documents/world.ts";
import type { Places } from "../../state/journal/places.ts";
import type { PersonData } from "../../state/persons/person-data.ts";
import type { Visitors } from "./visitors.ts";

export interface Desk {
  readonly worlds: Worlds;
  readonly people: PersonData;
  readonly clock: TimeSource;
  readonly ids: Ids;
  readonly dialect: Dialect;
  readonly keys: Keyring;
  readonly geoip: Places;
  /** The project of a key; with --adopt-tokens a well-formed unknown `phc_` key gets a new project. */
  projectFor(token: string): StoredProject | undefined;
  seen(project: number, uuid: string): boolean;
  readonly visitors: Visitors;
  /** The kept uuids of large batches that are not in the journal yet, by their items. */
  readonly underway: Map<readonly unknown[], { readonly project: number | null; readonly uuids: ReadonlySet<string> }>;
}
