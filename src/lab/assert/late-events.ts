import { performance } from "../../kernel/base/real-time.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { type Dispatcher, interestIn } from "./dispatcher.ts";
import { fitsEvent } from "./match/evaluate.ts";
import type { Pattern } from "./match/types.ts";

/** Failed waits that are remembered, and for how long, in ms of real time. */
const mostRemembered = 100;
const memory = 60_000;

interface FailedWait {
  match: Pattern;
  project: number | undefined;
  since: number;
  outcome: "kept" | "dropped";
}

const secondsSince = (start: number): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;

const sentence = ({ seq, event, project }: StoredEvent, start: number): string =>
  `event #${seq} ${JSON.stringify(event)} came ${secondsSince(start)} after a wait for it gave up${project === null ? "" : ` (project ${project})`}`;

/** @param notice Called for an event that came too late, once for each wait */
export function createLateEvents(dispatcher: Dispatcher, notice: (text: string) => void) {
  /** The functions that forget a wait, the oldest first. */
  const remembered = new Set<() => void>();

  return {
    remember({ match, project, since, outcome }: FailedWait) {
      const start = performance.now();
      const forget = () => {
        stop();
        remembered.delete(forget);
      };
      const stop = dispatcher.listen({
        ...interestIn(match),
        project,
        outcome,
        onEvent(event) {
          const isOld = performance.now() - start > memory;
          if (!isOld && (event.seq <= since || !fitsEvent(match, event))) return;
          forget();
          if (!isOld) notice(sentence(event, start));
        },
      });
      remembered.add(forget);
      const [oldest] = remembered;
      if (remembered.size > mostRemembered) oldest?.();
    },
  };
}

export type LateEvents = ReturnType<typeof createLateEvents>;
