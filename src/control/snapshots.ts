import { setImmediate as turn } from "node:timers/promises";
import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, type Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import { nearest } from "../kernel/nearest.ts";
import { DataFolderError } from "../store/data-folder.ts";
import {
  isSnapshotName,
  type ListedSnapshot,
  type SnapshotFacts,
  snapshotNameExpected,
} from "../store/snapshots.ts";
import { allowKeys, bodyOf } from "./body.ts";
import type { ControlDesk } from "./desk.ts";

type SnapshotDesk = Pick<ControlDesk, "snapshots" | "clock" | "log" | "agenda" | "settled">;

/** Each holds people and documents: a loop that forgets to delete must not fill the machine. */
const most = 100;

const shown = ({ name, created_at, persons, events }: SnapshotFacts) => ({
  name,
  persons,
  events,
  created_at: new Date(created_at).toISOString(),
});

const listed = ({ created_at, ...facts }: ListedSnapshot) => ({
  ...facts,
  created_at: created_at === null ? null : new Date(created_at).toISOString(),
});

function nameIn(call: Call): string {
  const body = bodyOf(call);
  allowKeys(body, ["name"]);
  if (isSnapshotName(body.name)) return body.name;
  throw new SimError("invalid_input", `"name" must be ${snapshotNameExpected}`, { pointer: "/name" });
}

const isTaken = ({ snapshots }: SnapshotDesk, name: string): boolean =>
  snapshots.list().some((it) => it.name.toLowerCase() === name.toLowerCase());

async function take(desk: SnapshotDesk, call: Call): Promise<Reply> {
  const name = nameIn(call);
  const replaced = isTaken(desk, name);
  if (!replaced && desk.snapshots.list().length >= most)
    throw new SimError("conflict", `there are ${most} snapshots already`, { hint: "delete some of them" });
  // What has been handled is in the journal by then: no request is taken in halves.
  await turn();
  const facts = desk.snapshots.take(name, desk.clock.now());
  return json({ ...shown(facts), replaced });
}

function noSnapshot({ snapshots }: SnapshotDesk, name: string): SimError {
  const names = snapshots.list().map((it) => it.name);
  const near = nearest(name, names);
  const there = names.length > 0 ? `there are: ${names.join(", ")}` : "there are no snapshots";
  return new SimError("not_found", `there is no snapshot "${name}"`, {
    hint: near === undefined ? there : `did you mean "${near}"?`,
  });
}

const nameOf = (call: Call): string => call.params.name ?? "";

async function restore(desk: SnapshotDesk, call: Call): Promise<Reply> {
  const name = nameOf(call);
  const restored = await desk.snapshots.restore(name, desk.settled).catch((error: unknown) => {
    if (!(error instanceof DataFolderError)) throw error;
    throw new SimError("conflict", error.message, { hint: error.hint, cause: error });
  });
  if (!restored) throw noSnapshot(desk, name);
  desk.agenda.changed();
  const { hasEvents, ...facts } = restored;
  const hint = hasEvents ? null : "the journal was emptied since then: its requests and events are gone";
  return json({ ...shown(facts), has_events: hasEvents, cursor: desk.log.lastSeq, hint });
}

function remove(desk: SnapshotDesk, call: Call): Reply {
  const name = nameOf(call);
  if (!desk.snapshots.remove(name)) throw noSnapshot(desk, name);
  return json({ deleted: name });
}

const path = "/__sim/snapshots";

/** Named copies of the state, to come back to. */
export const snapshotEndpoints = (desk: SnapshotDesk): Endpoint[] => [
  {
    methods: ["GET"],
    path,
    family: "control",
    summary: "The snapshots, oldest first; `damaged` is why one cannot be restored",
    handle: () => json({ snapshots: desk.snapshots.list().map(listed) }),
  },
  {
    methods: ["POST"],
    path,
    family: "control",
    summary: "Takes a snapshot of documents, persons, groups and events: name",
    handle: (call) => take(desk, call),
  },
  {
    methods: ["DELETE"],
    path: `${path}/:name`,
    family: "control",
    summary: "Deletes a snapshot",
    handle: (call) => remove(desk, call),
  },
  {
    methods: ["POST"],
    path: `${path}/:name/restore`,
    family: "control",
    summary: "Brings documents, persons and groups back, and shows the events that could be seen then",
    handle: (call) => restore(desk, call),
  },
];
