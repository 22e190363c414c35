import { isObject, type Json, own } from "../../../../src/kernel/base/json.ts";
import { recordedKind } from "../../../../src/lab/sessions/rrweb.ts";
import { link } from "../../../app/location.ts";
import { Facts, Time } from "../../../parts/basics.tsx";
import { counted, numberText, plain } from "../../../parts/text.ts";
import type { KindProps } from "../event-facts.ts";

const words = {
  full: "full snapshots",
  mutation: "changes of the page",
  mouse: "movements and clicks",
  input: "inputs",
  scroll: "scrolls",
  style: "changes of styles",
  network: "network requests",
  other: "others",
} as const;

const timeOf = (item: Json): number | undefined =>
  isObject(item) && typeof item.timestamp === "number" && Math.abs(item.timestamp) < 8e15 ? item.timestamp : undefined;

/** What a part of a recording holds, and a link to its session. */
export function RecordingPart({ event: { properties, project } }: KindProps) {
  const given = own(properties, "$snapshot_items") ?? own(properties, "$snapshot_data");
  const items = Array.isArray(given) ? given : isObject(given) ? [given] : [];
  const session = own(properties, "$session_id");
  const counts: Partial<Record<keyof typeof words, number>> = {};
  for (const item of items) {
    const kind = isObject(item) ? recordedKind(item) : "other";
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  const times = items.flatMap((it) => timeOf(it) ?? []);
  const [from, to] = times.reduce(([low, high], it) => [Math.min(low, it), Math.max(high, it)] as const, [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ] as const);
  const kinds = Object.entries(words).flatMap(([kind, word]) => {
    const count = counts[kind as keyof typeof words];
    return count === undefined ? [] : [`${word}: ${numberText(count)}`];
  });
  return (
    <div class="stack">
      <p>{`A part of a session recording with ${counted(items.length, "event")} of rrweb.`}</p>
      <Facts
        rows={{
          Holds: kinds.length > 0 ? kinds.join(", ") : <span class="muted">nothing that can be read</span>,
          From: times.length > 0 ? <Time at={from} isExact /> : undefined,
          To: times.length > 0 ? <Time at={to} isExact /> : undefined,
          Window:
            typeof properties.$window_id === "string" ? <code>{plain(properties.$window_id, 80)}</code> : undefined,
        }}
      />
      {typeof session === "string" && session !== "" && (
        <p>
          <a
            class="button"
            href={link("sessions", [session], {
              in: project ?? undefined,
              ...(times.length > 0 && { t: Math.round(from) }),
            })}
          >
            Play the session from here
          </a>
        </p>
      )}
    </div>
  );
}
