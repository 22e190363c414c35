import { json } from "../../kernel/http/reply.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { BadgeCounts } from "./badge-shapes.ts";
import { runningCounts } from "./feed/open-feed.ts";
import type { TrafficLog } from "./log/traffic-log.ts";

/** A tape, or a fault, may give a reason in words of its own. */
const codeOf = (reason: string | undefined): string => (/^[a-z_]{1,60}$/.exec(reason ?? "") ?? ["other"])[0];

function lastReason(log: TrafficLog): string | null {
  const dropped = log.scan({ outcome: "dropped", order: "desc" }).next().value;
  const n = log.requests({ rejected: true }).next().value;
  const head = n === undefined ? undefined : log.head(n);
  if (dropped && dropped.line.n >= (head?.n ?? 0)) return codeOf(dropped.line.events?.[dropped.index]?.dropped);
  return head ? codeOf(head.rejected?.reason) : null;
}

function createBadge(log: TrafficLog): () => BadgeCounts {
  const counts = runningCounts(log);
  let known = { of: "0/0", reason: null as string | null };
  return () => {
    const { kept, dropped, rejected } = counts.now();
    const of = `${dropped}/${rejected}`;
    if (known.of !== of) known = { of, reason: lastReason(log) };
    return { kept, dropped, rejected, reason: known.reason };
  };
}

export const badgeSlice = slice(["log"], ({ log }: { readonly log: TrafficLog }) => {
  let badge: (() => BadgeCounts) | undefined;
  const counts = row({
    method: "GET",
    path: "/__sim/badge",
    access: "control",
    summary: "Counts what arrived, for the badge; pages that are served from this machine may read it",
    replies: { 200: { description: "The counts", shape: BadgeCounts } },
    handle({ call }) {
      badge ??= createBadge(log);
      const { origin } = call.headers;
      const cors = origin === undefined ? [] : ["access-control-allow-origin", origin, "vary", "origin"];
      const reply = json(badge());
      return { ...reply, headers: [...reply.headers, "cache-control", "no-store", ...cors] };
    },
  });
  return [{ ...counts, access: "badge" }];
});
