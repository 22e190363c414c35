import type { Endpoint } from "../http/endpoint.ts";
import { json } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import { allowKeys, bodyOf } from "./body.ts";
import { type ControlDesk, type ResetPart, resetParts } from "./desk.ts";

const isPart = (value: unknown): value is ResetPart => resetParts.some((part) => part === value);

function partsOf(what: unknown): ReadonlySet<ResetPart> {
  if (what === undefined) return new Set(resetParts);
  if (Array.isArray(what) && what.every(isPart)) return new Set(what);
  throw new SimError("invalid_input", `"what" must be a list of ${resetParts.join(", ")}`, {
    pointer: "/what",
  });
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
    summary: "Version, addresses, keys, dialect, clock, counts, evictions",
    handle: () => json(desk.info()),
  },
  {
    methods: ["POST"],
    path: "/__sim/reset",
    family: "control",
    summary: "Back to the scenario: all, or `what`: world, people, events",
    async handle(call) {
      const body = bodyOf(call);
      allowKeys(body, ["what"]);
      const parts = partsOf(body.what);
      await desk.reset(parts);
      return json({ reset: [...parts], cursor: desk.log.lastSeq });
    },
  },
];
