import { setImmediate as turn } from "node:timers/promises";
import { headerIn } from "../http/client-address.ts";
import { countsFor, slice } from "../journal/search.ts";
import { showEvent } from "../journal/show.ts";
import type { TrafficLine } from "../journal/traffic.ts";
import { isUnmatched } from "../journal/unmatched.ts";
import type { ControlDesk } from "../sim/control-desk.ts";
import type { Surroundings } from "./match/types.ts";
import type { Scope } from "./wish.ts";

/** How many requests, or events, are looked back over. */
export const reach = 1_000;
/** How many of a kind a report names. */
export const mostNamed = 10;

/** What the journal says of a scope. */
export type RequestsSeen = Pick<Surroundings, "rejected" | "unmatched" | "requests" | "senders"> & {
  /** How many requests of the scope a fault touched, by its name. */
  touched: ReadonlyMap<string, number>;
};

type Sender = Surroundings["senders"][number];

const productPattern = /^([\w.@/-]*posthog[\w.@/-]*?)\/([\w.+-]+)/i;

/** `posthog-node/5.70.0`, as the SDKs say it in a header. */
function senderIn(text: string | undefined): Sender | undefined {
  const [, lib, version] = productPattern.exec(text ?? "") ?? [];
  return lib === undefined || version === undefined ? undefined : { lib, version };
}

/** Which library sent a request: by its first event, else by the headers. */
function senderOf(line: TrafficLine): Sender | undefined {
  const properties = line.events && line.events.length > 0 ? showEvent(line, 0).properties : {};
  const { $lib: lib, $lib_version: version } = properties;
  if (typeof lib === "string") return { lib, version: typeof version === "string" ? version : null };
  return (
    senderIn(headerIn(line.headers, "posthog-sdk-info")) ?? senderIn(headerIn(line.headers, "user-agent"))
  );
}

type SeenDesk = Pick<ControlDesk, "log" | "worlds">;

/** Requests of the scope that came after the cursor, and those without a project, newest first. */
async function* requestsAfter(desk: SeenDesk, { project, since }: Scope): AsyncGenerator<TrafficLine> {
  const { log } = desk;
  const isOf = (line: TrafficLine) => project === undefined || countsFor(desk, line, project);
  let looked = 0;
  for (const n of log.requests({})) {
    const line = log.line(n);
    if (line?.seq !== undefined && line.seq <= since) return;
    if (line && isOf(line)) yield line;
    if (++looked >= reach) return;
    if (looked % slice === 0) await turn();
  }
}

/** Looks through the journal once. */
export async function requestsSeen(desk: SeenDesk, scope: Scope): Promise<RequestsSeen> {
  const rejected: RequestsSeen["rejected"] = [];
  const unmatched: RequestsSeen["unmatched"] = [];
  const senders = new Map<string, Sender>();
  const touched = new Map<string, number>();
  let requests = 0;
  for await (const line of requestsAfter(desk, scope)) {
    requests++;
    const { n, method, target } = line;
    const { hint } = line.rejected ?? {};
    if (isUnmatched(line)) unmatched.push({ n, method, target, ...(hint !== undefined && { hint }) });
    else if (line.rejected) rejected.push({ n, method, target, ...line.rejected });
    const sender = senders.size < mostNamed ? senderOf(line) : undefined;
    if (sender) senders.set(`${sender.lib} ${sender.version}`, sender);
    for (const name of line.fault?.split(", ") ?? []) touched.set(name, (touched.get(name) ?? 0) + 1);
  }
  return {
    rejected: rejected.slice(0, mostNamed),
    unmatched: unmatched.slice(0, mostNamed),
    requests,
    senders: [...senders.values()],
    touched,
  };
}
