import { randomUUID } from "node:crypto";
import type { TimeSource } from "../../../kernel/base/clock.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { checkSender, type GuardRules } from "../../../kernel/http/control-access.ts";
import { readEventFilter, readRequestFilter } from "../filter/read.ts";
import type { TrafficLog, Written } from "../log/traffic-log.ts";
import { Feed } from "./feed.ts";
import type { Stat } from "./frames.ts";
import { feedJournal } from "./make-rows.ts";
import type { FeedConnection } from "./ports.ts";

type Counts = Record<"requests" | "rejected" | "events" | "kept" | "dropped" | "warned", number>;

export type FeedFacts = Omit<Stat, keyof Counts | "at" | "pages">;

export interface FeedPorts {
  readonly log: TrafficLog;
  readonly clock: TimeSource;
  readonly closing: AbortSignal;
  facts(): FeedFacts;
  notice(text: string): void;
}

/** Counts of the log, kept up to date while clients read them, because a new count walks over everything. */
export function runningCounts(log: TrafficLog): { now(): Counts; close(): void } {
  let known: { counts: Counts; upTo: number } | undefined;
  const forget = () => {
    known = undefined;
  };
  function add({ n, entry: { record } }: Written): void {
    if (known === undefined || n <= known.upTo) return;
    // after a gap in the numbers, lines came without a notification
    if (n > known.upTo + 1) {
      forget();
      return;
    }
    known.upTo = n;
    const { counts } = known;
    const events = record.events ?? [];
    const dropped = events.filter((it) => it.dropped !== undefined).length;
    counts.requests++;
    if (record.rejected) counts.rejected++;
    counts.events += events.length;
    counts.dropped += dropped;
    counts.kept += events.length - dropped;
    counts.warned += events.filter((it) => it.dropped === undefined && it.warnings?.length).length;
  }
  const stops = [log.onVeiled(forget), log.subscribe(add)];
  return {
    now() {
      if (known === undefined) {
        const { requests, rejected, events, kept, dropped, warned } = log.counts();
        known = { counts: { requests, rejected, events, kept, dropped, warned }, upTo: log.lastRequest };
      }
      return known.counts;
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

export function openFeed({ log, clock, closing, facts, notice }: FeedPorts, rules: GuardRules) {
  const counts = runningCounts(log);
  const feed = new Feed({
    journal: feedJournal(log),
    read: { events: readEventFilter, requests: readRequestFilter },
    now: clock.now,
    stat: () => ({ at: Date.now(), ...counts.now(), ...facts() }),
    token: rules.token,
    makeEpoch: randomUUID,
    notice,
  });
  const close = () => {
    feed.close();
    counts.close();
  };
  if (closing.aborted) close();
  else closing.addEventListener("abort", close, { once: true });
  return {
    feed,
    /** Returns what connects the client; its token is checked later. @throws SimError forbidden_host, forbidden_origin */
    admit(call: Call) {
      checkSender(call, rules);
      return (wire: FeedConnection) => feed.connect(wire);
    },
  };
}

export type FeedAdmission = ReturnType<typeof openFeed>;
