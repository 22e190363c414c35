import { setImmediate as turn } from "node:timers/promises";
import { z } from "zod";
import { isoOf } from "../../../kernel/base/clock.ts";
import { SimError } from "../../../kernel/base/errors.ts";
import { nearest } from "../../../kernel/base/nearest.ts";
import { setImmediate } from "../../../kernel/base/real-time.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { jsonSchemaOf, row } from "../../../kernel/http/row.ts";
import { slice } from "../../../kernel/http/slice.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import { resetNeeds } from "../../test-projects/ports.ts";
import { reseedMade, resetProject } from "../../test-projects/project-reset.ts";
import { Info } from "./info-shapes.ts";
import type { SnapshotPorts, StatePorts } from "./ports.ts";
import {
  ImportedState,
  ListedSnapshot,
  partsOf,
  ResetDone,
  ResetOrder,
  SnapshotOrder,
  SnapshotRestored,
  SnapshotTaken,
  State,
  StateOrder,
  Stopping,
} from "./shapes.ts";
import type { SnapshotFacts } from "./snapshot-storage.ts";
import { exportState, importState, largestState } from "./transfer.ts";

/** Health checks. They are open to everyone and reveal nothing about the traffic. */
const healthRows = ({ worlds }: Pick<StatePorts, "worlds">) => [
  row({
    method: "GET",
    path: "/__sim/health",
    access: "open",
    summary: "Liveness",
    reply: z.strictObject({ status: z.literal("ok") }),
    handle: () => ({ status: "ok" as const }),
  }),
  row({
    method: "GET",
    path: "/__sim/ready",
    access: "open",
    summary: "Readiness: 200 once the scenario is loaded (the port opens only then)",
    reply: z.strictObject({ status: z.literal("ready"), projects: z.int() }),
    handle: () => ({ status: "ready" as const, projects: worlds.current.projects.length }),
  }),
];

const stateRows = (ports: StatePorts): Endpoint[] => [
  row({
    method: "GET",
    path: "/__sim/info",
    access: "control",
    summary: "Shows version, addresses, keys, dialect, clock, counts, problems, faults",
    reply: Info,
    // sim.ts collects the facts; the contract tests compare them with the shape
    handle: () => ports.info() as Info,
  }),
  row({
    method: "POST",
    path: "/__sim/reset",
    access: "control",
    summary: "Resets the sim, some of its parts, or one project to the scenario; a tape is rewound",
    body: ResetOrder,
    errors: [404, 409],
    reply: ResetDone,
    async handle({ body }) {
      const reset = partsOf(body);
      const parts = new Set(reset);
      const { project } = body;
      if (project !== undefined) {
        await ports.traffic.inTurn(async () => {
          resetProject(ports, project, parts);
          if (parts.has("events")) await ports.traffic.capture(project);
        });
      } else {
        await ports.reset(parts, (people) => {
          // projects that were made for tests stay with the world
          if (!parts.has("world")) reseedMade(ports, people);
        });
      }
      ports.agenda.changed();
      return { reset, cursor: ports.log.lastSeq };
    },
  }),
  row({
    method: "POST",
    path: "/__sim/stop",
    access: "control",
    summary: "Ends the program of `phx-sim start` after the requests in flight; 409 for a sim inside another program",
    errors: [409],
    reply: Stopping,
    handle() {
      if (!ports.stop) {
        throw new SimError("conflict", `this sim ends with the program that runs it (pid ${process.pid})`, {
          hint: "end that program; only a sim of phx-sim start, replay or record can be stopped",
        });
      }
      // after the answer
      setImmediate(ports.stop);
      return { stopping: true as const, pid: process.pid };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/state",
    access: "control",
    summary: "Exports the state as one JSON text: documents, persons, groups, journal",
    errors: [409],
    replies: { 200: { description: "The state", shape: State } },
    handle: () => exportState(ports),
  }),
  importRow(ports),
];

/** Not a row with a body shape: a state is larger and deeper than other bodies, and has a schema of its own. */
function importRow(ports: StatePorts): Endpoint {
  const plain = row({
    method: "PUT",
    path: "/__sim/state",
    access: "control",
    summary: "Replaces the state with an exported one",
    errors: [400, 408, 413, 415],
    reply: ImportedState,
    bodyLimit: largestState,
    handle: ({ call }) => importState(ports, call.body.toString("utf8")),
  });
  const body = { type: "application/json", schema: jsonSchemaOf(StateOrder, "input"), isOptional: false };
  return { ...plain, docs: () => ({ ...plain.docs?.(), body, replies: plain.docs?.().replies ?? {} }) };
}

/** Each snapshot holds people and documents; without a limit, a loop could fill the machine. */
const mostSnapshots = 100;

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

const snapshotRows = (ports: SnapshotPorts) => [
  row({
    method: "GET",
    path,
    access: "control",
    summary: "Lists the snapshots, oldest first; `damaged` is the reason why one cannot be restored",
    reply: z.strictObject({ snapshots: z.array(ListedSnapshot) }),
    handle: () => ({
      snapshots: ports.snapshots
        .list()
        .map(({ created_at, ...facts }) => ({ ...facts, created_at: created_at === null ? null : isoOf(created_at) })),
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
      if (!replaced && known.length >= mostSnapshots)
        throw new SimError("conflict", `there are already ${mostSnapshots} snapshots`, { hint: "delete some of them" });
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

const needs = [
  ...resetNeeds,
  ...(["snapshots", "agenda", "settled", "info", "stop", "traffic", "reset", "switchTo"] as const),
] as const;

export const stateSlice = slice(needs, (ports: StatePorts) => [
  ...healthRows(ports),
  ...stateRows(ports),
  ...snapshotRows(ports),
]);
