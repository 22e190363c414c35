import { isoOf } from "../../kernel/base/clock.ts";
import { type Json, own } from "../../kernel/base/json.ts";
import { times } from "../../kernel/base/text.ts";
import type { Work } from "../../kernel/base/work.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { showEvent } from "../../state/journal/show.ts";
import { type DecodedPart, decoding } from "./decode.ts";
import { lossReasons, type RecordedKind, type Unreadable, undecidable, unreadables } from "./rrweb.ts";
import { type RecordedFind, RecordingSearch, type SearchSum } from "./search.ts";
import type { PartSum, SessionSum } from "./session-index.ts";
import type { RecordingFind, RecordingFindings, RecordingLoss } from "./shapes.ts";
import type { Values } from "./wanted.ts";

/** Most that one search reads and returns; losses of equal kind are counted. */
const most = { characters: 256 * 1024 * 1024, finds: 1_000, losses: 1_000, sentences: 50 };

export const bySeq = (parts: readonly PartSum[]): PartSum[] => parts.toSorted((a, b) => a.seq - b.seq);

export function eventAt(log: TrafficLog, seq: number): StoredEvent | undefined {
  for (const { line, index } of log.scan({ since: seq - 1, until: seq })) return showEvent(line, index);
  return undefined;
}

const itemsOf = (event: StoredEvent | undefined): readonly Json[] => {
  const items = event && own(event.properties, "$snapshot_items");
  return Array.isArray(items) ? items : [];
};

export function* readPart(log: TrafficLog, part: PartSum): Work<DecodedPart> {
  const items = itemsOf(eventAt(log, part.seq));
  yield undefined;
  const decoded = yield* decoding(items);
  if (items.length > 0 || part.items === 0) return decoded;
  return { ...decoded, losses: [{ reason: "not_kept", what: "part", count: part.items }] };
}

/** The events of rrweb in all parts, by what they hold. */
export function kindsOf(parts: readonly PartSum[]): Partial<Record<RecordedKind, number>> {
  const sum: Partial<Record<RecordedKind, number>> = {};
  for (const { kinds } of parts) addTo(sum, kinds);
  return sum;
}

/** The session in the inspector, at a moment. */
export function linkTo({ id, project }: Pick<SessionSum, "id" | "project">, at?: number): string {
  const query = new URLSearchParams({
    ...(at !== undefined && { at: String(at) }),
    ...(project !== null && { in: String(project) }),
  });
  return `/__sim/#/sessions/${encodeURIComponent(id)}${query.size === 0 ? "" : `?${query}`}`;
}

const addTo = <K extends string>(sum: Partial<Record<K, number>>, more: Partial<Record<K, number>>): void => {
  for (const [key, count] of Object.entries(more) as [K, number][]) sum[key] = (sum[key] ?? 0) + count;
};

type ReadRecordings = Omit<RecordingFindings, "complete" | "verdict" | "undecided">;

function lossSentence({ session, seq, reason, what, count }: RecordingLoss): string {
  const where = [session !== null && `session ${session}`, seq !== null && `event ${seq}`].filter(Boolean);
  const at = where.length === 0 ? "" : `${where.join(", ")}: `;
  return `${at}${what}${times(count)}: ${reason} (${lossReasons[reason]})`;
}

/** Why not everything was read, one sentence each. @param isWhole False if events may be missing */
export function undecidedOf(
  { searched, unread, missing }: Pick<ReadRecordings, "searched" | "unread" | "missing">,
  isWhole: boolean,
  allowed: readonly Unreadable[] = [],
): string[] {
  const unreadHere = undecidable.filter((it) => !allowed.includes(it) && (unread[it] ?? 0) > 0);
  return [
    ...(searched.parts === 0 && missing.length === 0 ? ["there is no recording"] : []),
    ...unreadHere.map((it) => `${it}${times(unread[it] ?? 1)}: a ${unreadables[it]} cannot be read as text`),
    ...missing.map(lossSentence),
    ...(isWhole
      ? []
      : ["older events were removed from the journal or are damaged; they may have been of a recording"]),
  ].slice(0, most.sentences);
}

/** Searches recordings; what is at one place of a session is one find. */
export function* searching(
  log: TrafficLog,
  sessions: readonly SessionSum[],
  values: Values,
  signal?: AbortSignal,
): Work<ReadRecordings> {
  const finds = new Map<string, RecordingFind>();
  const missing: RecordingLoss[] = [];
  const texts: SearchSum["texts"] = {};
  const unread: SearchSum["unread"] = {};
  const searched = { sessions: 0, parts: 0, events: 0, characters: 0 };
  let more = false;

  const lose = (loss: RecordingLoss): void => {
    if (missing.length < most.losses) missing.push(loss);
  };

  function add(session: SessionSum, { seq, window, shift, end }: PartSum, it: RecordedFind): void {
    const key = JSON.stringify([session.project, session.id, it.value, it.place, it.path, it.name]);
    const known = finds.get(key);
    if (known) known.count++;
    else if (finds.size >= most.finds) more = true;
    else {
      // a damaged time counts as that of its part
      const given = Math.round(it.timestamp + shift);
      const time = Math.abs(given - end) > 86_400_000 ? end : given;
      const offset = Math.max(0, time - Math.round(session.start));
      finds.set(key, {
        value: it.value + 1,
        session: session.id,
        project: session.project,
        window,
        seq,
        place: it.place,
        path: it.path,
        name: it.name,
        writing: it.writing,
        time: isoOf(time),
        offset_ms: offset,
        count: 1,
        link: linkTo(session, offset),
      });
    }
  }

  for (const session of sessions) {
    const { id, parts, partCount } = session;
    const search = new RecordingSearch(values);
    searched.sessions++;
    const unlisted = partCount - parts.length;
    if (unlisted > 0) lose({ session: id, seq: null, reason: "not_listed", what: "parts", count: unlisted });
    const ordered = bySeq(parts);
    for (const [at, part] of ordered.entries()) {
      signal?.throwIfAborted();
      if (searched.characters >= most.characters) {
        const left = ordered.length - at;
        lose({ session: id, seq: part.seq, reason: "not_searched", what: "parts", count: left });
        break;
      }
      const { events, losses, size } = yield* readPart(log, part);
      searched.parts++;
      searched.events += events.length;
      searched.characters += size + log.sizeOf(part.n);
      for (const loss of losses) lose({ session: id, seq: part.seq, ...loss });
      for (const event of events) yield* search.examine(part.window, event, (it) => add(session, part, it));
    }
    const sum = search.sum();
    // What is lost can be the snapshot.
    if (sum.withoutPage > 0 && !missing.some((it) => it.session === id))
      lose({ session: id, seq: null, reason: "no_page", what: "window", count: sum.withoutPage });
    addTo(texts, sum.texts);
    addTo(unread, sum.unread);
  }
  return { finds: [...finds.values()], more, searched, texts, unread, missing };
}
