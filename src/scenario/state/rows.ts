import { z } from "zod";
import { SimError } from "../../base/errors.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { jsonSchemaOf, row } from "../../http/row.ts";
import { reseedMade, resetProject } from "../../projects/project-reset.ts";
import { Info } from "./info-shapes.ts";
import type { StatePorts } from "./ports.ts";
import { ImportedState, partsOf, ResetDone, ResetOrder, State, StateOrder, Stopping } from "./shapes.ts";
import { exportState, importState, largestState } from "./state-transfer.ts";

/** Health checks. They are open to everyone and reveal nothing about the traffic. */
export const healthRows = ({ worlds }: Pick<StatePorts, "worlds">) => [
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

/** The endpoints that show, reset, export and import the state, and stop the sim. */
export const stateRows = (ports: StatePorts): Endpoint[] => [
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
      if (body.project !== undefined) resetProject(ports, body.project, parts);
      else {
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
    summary:
      "Ends the program of `phx-sim start` after the requests in flight; 409 for a sim inside another program",
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
    handle: ({ call }) => importState(ports, call.body.toString("utf8")),
  });
  const body = { type: "application/json", schema: jsonSchemaOf(StateOrder, "input"), isOptional: false };
  return {
    ...plain,
    bodyLimit: largestState,
    docs: () => ({ ...plain.docs?.(), body, replies: plain.docs?.().replies ?? {} }),
  };
}
