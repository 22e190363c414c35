import { useEffect } from "preact/hooks";
import type { Json } from "../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import type { SimProblem } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { jsonText } from "../../copy/quote.ts";
import { greetings, stat } from "../../feed/socket.ts";
import { Trouble } from "../../parts/basics.tsx";
import { kindOf } from "../../parts/tree/model.ts";
import { cutText } from "../../parts/tree/safe-text.ts";
import { KindMark, ShownText } from "../../parts/tree/tree-row.tsx";

interface UsedEvent {
  /** undefined: loading or missing. */
  readonly event: StoredEvent | undefined;
  /** Why it is missing. */
  readonly problem: SimProblem | undefined;
  /** True if it existed and was removed. */
  readonly wasThere: boolean;
  reload(): void;
}

/** Loads an event; it disappears when the sim removes it. */
export function useEvent(seq: number): UsedEvent {
  // after a restart or reset, the event may be another one
  const { data, problem, reload } = useResource<StoredEvent>(`events/${seq}`, { revision: greetings.value });
  const isGone = problem?.status === 404;
  const event = isGone ? undefined : data;
  return { event, problem: event ? undefined : problem, wasThere: isGone && data !== undefined, reload };
}

/** Shown for an event that does not exist. */
export function Gone({ seq, of }: { seq: number; of: UsedEvent }) {
  const { problem, wasThere, reload } = of;
  // it may still arrive
  const count = stat.value?.events;
  useEffect(reload, [count, reload]);
  if (!problem) return null;
  return (
    <div class="event-gone">
      {!wasThere && <Trouble problem={problem} />}
      <p class={wasThere ? undefined : "muted"} role="status">
        {wasThere && `Event ${seq} no longer exists: it was cleared, or the sim was restarted. `}
        {!wasThere && problem.status === 404 && `Event ${seq} may have been cleared, or never arrived. `}
        <a href={link("events")}>All events</a>
      </p>
    </div>
  );
}

const longestName = 200;

/** Captured text, truncated; `otherwise` if it is empty. */
export function Named({ text, otherwise }: { text: string; otherwise: string }) {
  if (text === "") return <span class="muted">{otherwise}</span>;
  return (
    <>
      <ShownText text={cutText(text, longestName)} />
      {text.length > longestName && "…"}
    </>
  );
}

const longest = 300;

function textOf(value: Json): string {
  const text = typeof value === "string" ? value : jsonText(value);
  return text.length > longest ? `${cutText(text, longest)}…` : text;
}

/** A truncated value with the mark of its kind. */
export function ShownValue({ value }: { value: Json }) {
  const kind = kindOf(value);
  return (
    <span class="event-value mono">
      <KindMark kind={kind} />
      <span class={`tree-value tree-${kind}`}>
        <ShownText text={textOf(value)} />
      </span>
    </span>
  );
}
