import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { SimError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { row } from "../../http/row.ts";
import { DataFolderError } from "../../store/data-folder.ts";
import type { SnapshotPorts } from "./ports.ts";
import { ListedSnapshot, SnapshotOrder, SnapshotRestored, SnapshotTaken } from "./shapes.ts";
import type { SnapshotFacts } from "./snapshot-shelf.ts";

/** Each snapshot holds people and documents; without a limit, a loop could fill the machine. */
const most = 100;

const isoOf = (time: number): string => new Date(time).toISOString();

const show = ({ name, created_at, persons, events }: SnapshotFacts) => ({
  name,
  persons,
  events,
  created_at: isoOf(created_at),
});

function noSnapshot({ snapshots }: SnapshotPorts, name: string): SimError {
  const names = snapshots.list().map((it) => it.name);
  const near = nearest(name, names);
  const known = names.length > 0 ? `known snapshots: ${names.join(", ")}` : "there are no snapshots";
  return new SimError("not_found", `there is no snapshot "${name}"`, {
    hint: near === undefined ? known : `did you mean "${near}"?`,
  });
}

const path = "/__sim/snapshots";

/** The endpoints of named copies of the state. */
export const snapshotRows = (ports: SnapshotPorts) => [
  row({
    method: "GET",
    path,
    access: "control",
    summary: "Lists the snapshots, oldest first; `damaged` is the reason why one cannot be restored",
    reply: z.strictObject({ snapshots: z.array(ListedSnapshot) }),
    handle: () => ({
      snapshots: ports.snapshots.list().map(({ created_at, ...facts }) => ({
        ...facts,
        created_at: created_at === null ? null : isoOf(created_at),
      })),
    }),
  }),
  row({
    method: "POST",
    path,
    access: "control",
    summary: "Takes a snapshot of documents, persons, groups and events",
    body: SnapshotOrder,
    errors: [409],
    reply: SnapshotTaken,
    async handle({ body: { name } }) {
      const known = ports.snapshots.list();
      const replaced = known.some((it) => it.name.toLowerCase() === name.toLowerCase());
      if (!replaced && known.length >= most)
        throw new SimError("conflict", `there are already ${most} snapshots`, {
          hint: "delete some of them",
        });
      // by then every answered request is in the journal
      await turn();
      return { ...show(ports.snapshots.take(name, ports.clock.now())), replaced };
    },
  }),
  row({
    method: "DELETE",
    path: `${path}/:name`,
    access: "control",
    summary: "Deletes a snapshot",
    errors: [404],
    reply: z.strictObject({ deleted: z.string().describe("Its name") }),
    handle({ params: { name } }) {
      if (!ports.snapshots.remove(name)) throw noSnapshot(ports, name);
      return { deleted: name };
    },
  }),
  row({
    method: "POST",
    path: `${path}/:name/restore`,
    access: "control",
    summary: "Restores documents, persons and groups, and shows the events that were visible then",
    errors: [404, 409],
    reply: SnapshotRestored,
    async handle({ params: { name } }) {
      const restored = await ports.snapshots
        .restore(name, () => ports.settled())
        .catch((error: unknown) => {
          if (!(error instanceof DataFolderError)) throw error;
          throw new SimError("conflict", error.message, { hint: error.hint, cause: error });
        });
      if (!restored) throw noSnapshot(ports, name);
      ports.agenda.changed();
      const { hasEvents, ...facts } = restored;
      const hint = hasEvents ? null : "the journal was emptied since then: its requests and events are lost";
      return { ...show(facts), has_events: hasEvents, cursor: ports.log.lastSeq, hint };
    },
  }),
];
