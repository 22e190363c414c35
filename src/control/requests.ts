import { setImmediate as turn } from "node:timers/promises";
import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, type Reply } from "../http/reply.ts";
import { showEvent } from "../ingest/show.ts";
import { SimError } from "../kernel/errors.ts";
import type { TrafficLine } from "../model/traffic.ts";
import { pathNumber, queryChoice, queryNumber } from "./body.ts";
import type { ControlDesk } from "./desk.ts";

const most = Number.MAX_SAFE_INTEGER;

/** A request in a list: what happened, without headers and bodies. */
const showInList = (line: TrafficLine) => ({
  n: line.n,
  at: new Date(line.at).toISOString(),
  method: line.method,
  target: line.target,
  status: line.status,
  ms: line.us / 1000,
  project: line.project,
  outcome: line.rejected ? "rejected" : "answered",
  rejected: line.rejected ?? null,
  fault: line.fault ?? null,
  scripted: line.scripted === true,
  partition: line.partition ?? null,
  events: line.events?.length ?? 0,
  dropped: line.events?.filter((it) => it.dropped !== undefined).length ?? 0,
});

/** The flat header list as pairs. */
const pairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);

const showInFull = (line: TrafficLine) => ({
  ...showInList(line),
  peer: line.peer,
  headers: pairs(line.headers),
  decode_steps: line.steps ?? [],
  raw: line.raw ?? null,
  body: line.body ?? null,
  reply: line.reply ?? null,
  carried: (line.events ?? []).map((_, i) => showEvent(line, i)),
});

/** Lines looked at before other work gets a turn: a partition's may be few among many. */
const slice = 200;

async function list({ log }: ControlDesk, call: Call): Promise<Reply> {
  const limit = queryNumber(call, "limit", { min: 1, max: 10_000 }) ?? 100;
  const project = queryNumber(call, "project", { min: 0, max: most });
  const before = queryNumber(call, "before", { min: 1, max: most });
  const outcome = queryChoice(call, "outcome", ["answered", "rejected"] as const);
  const partition = call.query.get("partition") || undefined;
  const requests: ReturnType<typeof showInList>[] = [];
  const numbers = log.requests({
    ...(project !== undefined && { project }),
    ...(before !== undefined && { before }),
    ...(outcome !== undefined && { rejected: outcome === "rejected" }),
  });
  let looked = 0;
  for (const n of numbers) {
    const line = log.line(n);
    if (line && (partition === undefined || line.partition === partition)) requests.push(showInList(line));
    if (requests.length === limit) break;
    if (++looked % slice === 0) await turn();
  }
  return json({ requests, before: requests.length === limit ? (requests.at(-1)?.n ?? null) : null });
}

export const requestEndpoints = (desk: ControlDesk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/__sim/requests",
    family: "control",
    summary: "The journal, newest first: project, partition, outcome=answered|rejected, before, limit",
    handle: (call) => list(desk, call),
  },
  {
    methods: ["GET"],
    path: "/__sim/requests/:n",
    family: "control",
    summary: "One request: headers (secrets masked), raw and decoded body, answer, and the events it carried",
    handle(call) {
      const n = pathNumber(call, "n", "request");
      const line = desk.log.line(n);
      if (!line) throw new SimError("not_found", `there is no request ${n}`);
      return json(showInFull(line));
    },
  },
];
