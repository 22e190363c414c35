import { useEffect } from "preact/hooks";
import type { StoredEvent } from "../../../src/model/stored-event.ts";
import type { SimProblem } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { greetings, stat } from "../../feed/socket.ts";
import { Trouble } from "../../parts/basics.tsx";

interface UsedEvent {
  /** undefined: not known yet, or not there. */
  readonly event: StoredEvent | undefined;
  /** Why it is not there. */
  readonly problem: SimProblem | undefined;
  /** It was there, and is no more. */
  readonly wasThere: boolean;
  reload(): void;
}

/** An event as long as the sim has it. */
export function useEvent(seq: number): UsedEvent {
  // a sim that comes back, or that was cleared, has another past
  const { data, problem, reload } = useResource<StoredEvent>(`events/${seq}`, { revision: greetings.value });
  const isGone = problem?.status === 404;
  const event = isGone ? undefined : data;
  return { event, problem: event ? undefined : problem, wasThere: isGone && data !== undefined, reload };
}

/** In the place of an event that is not there. */
export function Gone({ seq, of }: { seq: number; of: UsedEvent }) {
  const { problem, wasThere, reload } = of;
  // it may come yet
  const count = stat.value?.events;
  useEffect(reload, [count, reload]);
  if (!problem) return null;
  return (
    <div class="event-gone">
      {!wasThere && <Trouble problem={problem} />}
      <p class={wasThere ? undefined : "muted"} role="status">
        {wasThere && `Event ${seq} is no longer there: it was cleared, or the sim began anew. `}
        {!wasThere && problem.status === 404 && `Event ${seq} may have been cleared, or never came. `}
        <a href={link("events")}>All events</a>
      </p>
    </div>
  );
}
