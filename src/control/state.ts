import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, type Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import { allowKeys, bodyOf, wholeNumber } from "./body.ts";
import { type ControlDesk, type ResetPart, resetParts } from "./desk.ts";
import { reseedMade, resetProject } from "./project-reset.ts";
import { exportState, largestState } from "./state-export.ts";
import { importState } from "./state-import.ts";

const most = Number.MAX_SAFE_INTEGER;

const isPart = (value: unknown): value is ResetPart => resetParts.some((part) => part === value);

/** What one project has of its own. */
const projectParts = ["world", "people", "events"] as const satisfies readonly ResetPart[];

function partsOf(what: unknown, known: readonly ResetPart[]): ReadonlySet<ResetPart> {
  if (what === undefined) return new Set(known);
  if (Array.isArray(what) && what.every(isPart) && what.every((part) => known.includes(part)))
    return new Set(what);
  const ofProject = known === projectParts ? " for one project" : "";
  throw new SimError("invalid_input", `"what" must be a list of ${known.join(", ")}${ofProject}`, {
    pointer: "/what",
  });
}

async function resetAll(desk: ControlDesk, parts: ReadonlySet<ResetPart>): Promise<void> {
  // The projects go with the world that they were made in.
  await desk.reset(parts, (people) => {
    if (!parts.has("world")) reseedMade(desk, people);
  });
}

async function reset(desk: ControlDesk, call: Call): Promise<Reply> {
  const body = bodyOf(call);
  allowKeys(body, ["what", "project"]);
  const isWhole = body.project === undefined;
  const parts = partsOf(body.what, isWhole ? resetParts : projectParts);
  if (isWhole) await resetAll(desk, parts);
  else resetProject(desk, wholeNumber(body, "project", 0, { min: 1, max: most }), parts);
  desk.agenda.changed();
  return json({ reset: [...parts], cursor: desk.log.lastSeq });
}

/** Answers first: what ends the program must not cut off the answer. */
function stop({ stop }: ControlDesk): Reply {
  if (!stop)
    throw new SimError("conflict", `this sim ends with the program that runs it (pid ${process.pid})`, {
      hint: "end that program; only a sim of phx-sim start, replay or record can be stopped",
    });
  setImmediate(stop);
  return json({ stopping: true, pid: process.pid });
}

/** Open to everyone: liveness says nothing about what was captured. */
export const healthEndpoints = (desk: ControlDesk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/__sim/health",
    family: "control",
    journaled: false,
    summary: "Liveness",
    handle: () => json({ status: "ok" }),
  },
  {
    methods: ["GET"],
    path: "/__sim/ready",
    family: "control",
    journaled: false,
    summary: "200 once the scenario is loaded (the port opens only then)",
    handle: () => json({ status: "ready", projects: desk.worlds.current.projects.length }),
  },
];

export const stateEndpoints = (desk: ControlDesk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/__sim/info",
    family: "control",
    summary: "Version, addresses, keys, dialect, clock, counts, evictions, faults",
    handle: () => json(desk.info()),
  },
  {
    methods: ["POST"],
    path: "/__sim/reset",
    family: "control",
    summary:
      "Back to the scenario: all, or `what`: world, people, events, faults, answers (a tape is rewound), clock; or one project",
    handle: (call) => reset(desk, call),
  },
  {
    methods: ["POST"],
    path: "/__sim/stop",
    family: "control",
    summary:
      "Ends the program of `phx-sim start`, once what is in flight is answered; 409 for a sim inside another program",
    handle: () => stop(desk),
  },
  {
    methods: ["GET"],
    path: "/__sim/state",
    family: "control",
    summary: "The whole state as one JSON: documents, persons, groups, journal",
    handle: () => exportState(desk),
  },
  {
    methods: ["PUT"],
    path: "/__sim/state",
    family: "control",
    bodyLimit: largestState,
    summary: "Puts an exported state in the place of this one",
    handle: (call) => importState(desk, call),
  },
];
