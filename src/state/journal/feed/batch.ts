import type { Subscription, Wanted } from "./client-frames.ts";
import type { EventHead } from "./feed-row.ts";
import type { SimFrame } from "./frames.ts";
import { type Journal, type Kinds, limits } from "./ports.ts";
import { type HeldRequest, type HeldRow, heldEventSubject, heldRequestSubject, textOf } from "./recent.ts";

/** A frame as bytes, and the last request in it. */
export interface Batch {
  readonly bytes: Buffer;
  readonly to: number;
}

interface HeldSource {
  readonly journal: Pick<Journal, "properties" | "text" | "complete">;
  readonly last: number;
  /** With the rows that are needed. */
  at(n: number, needs: Kinds): HeldRequest | undefined;
}

export const bytesOf = (frame: SimFrame): Buffer => Buffer.from(JSON.stringify(frame));

/** Adds the texts of the rows that pass; returns their number of characters. */
function add<Row, Subject>(
  texts: string[],
  rows: readonly HeldRow<Row>[] | undefined,
  wanted: Wanted<Subject>,
  passes: (it: HeldRow<Row>) => boolean,
  textFor: (it: HeldRow<Row>) => string,
): number {
  if (wanted === "none" || rows === undefined) return 0;
  let added = 0;
  for (const it of rows) {
    if (wanted !== "all" && !passes(it)) continue;
    const text = textFor(it);
    texts.push(text);
    added += text.length;
  }
  return added;
}

const test = <Subject>(wanted: Wanted<Subject>, makeSubject: () => Subject, now: number): boolean =>
  typeof wanted === "string" ? wanted === "all" : wanted.test(makeSubject(), now);

/** Reports requests that were evicted. */
function gapFrom(from: number, source: HeldSource, needs: Kinds): Batch {
  let to = from;
  while (to < source.last && source.at(to + 1, needs) === undefined) to++;
  return { bytes: bytesOf({ t: "gap", from, to, why: "old" }), to };
}

/**
 * The next frame after `cursor`; there must be a newer request.
 * @param now The time of the sim's clock, ms
 */
export function batchAfter(
  cursor: number,
  source: HeldSource,
  { project, events, requests, columns, needs }: Subscription,
  now: number,
): Batch {
  const from = cursor + 1;
  const { journal } = source;
  // texts are shared by all clients that have no columns
  const eventText = (it: HeldRow<EventHead>) =>
    columns.length === 0
      ? textOf(it, (row) => journal.complete(row, columns))
      : JSON.stringify(journal.complete(it.row, columns));
  if (source.at(from, needs) === undefined) return gapFrom(from, source, needs);
  const eventTexts: string[] = [];
  const requestTexts: string[] = [];
  const most = Math.min(source.last, cursor + limits.batch.requests);
  let to = cursor;
  let examined = 0;
  let characters = 0;
  while (to < most && examined < limits.batch.events && characters < limits.batch.characters) {
    const held = source.at(to + 1, needs);
    if (held === undefined) break;
    to++;
    examined += held.events?.length ?? 0;
    if (project !== undefined && held.project !== project) continue;
    characters += add(
      eventTexts,
      held.events,
      events,
      (it) => test(events, () => heldEventSubject(held, it, journal), now),
      eventText,
    );
    characters += add(
      requestTexts,
      held.request && [held.request],
      requests,
      (it) => test(requests, () => heldRequestSubject(held, it, journal), now),
      (it) => textOf(it),
    );
  }
  const text = `{"t":"rows","from":${from},"to":${to},"events":[${eventTexts.join(",")}],"requests":[${requestTexts.join(",")}]}`;
  return { bytes: Buffer.from(text), to };
}
