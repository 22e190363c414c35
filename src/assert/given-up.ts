import type { StoredEvent } from "../journal/event.ts";
import { distinctIdIn, namesIn } from "./asked-pattern.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { fitsEvent } from "./match/judge.ts";
import type { Pattern } from "./match/types.ts";
import type { Scope } from "./wish.ts";

/** Waits in vain that are remembered, and for how long, in ms of real time. */
const mostRemembered = 100;
const memory = 60_000;

/** A wait in vain: what did not come. */
interface GivenUp {
  match: Pattern;
  scope: Scope;
  outcome: "kept" | "dropped";
}

/** Remembers waits in vain for a while: an event that comes after all explains a test that failed. */
export interface Regrets {
  remember(wait: GivenUp): void;
}

const since = (start: number): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;

const sentence = ({ seq, event, project }: StoredEvent, start: number): string =>
  `event #${seq} ${JSON.stringify(event)} came ${since(start)} after a wait for it gave up${project === null ? "" : ` (project ${project})`}`;

/** @param notice Told of an event that came too late, once for each wait. */
export function createRegrets(dispatcher: Dispatcher, notice: (text: string) => void): Regrets {
  /** The functions that forget, the oldest first. */
  const remembered = new Set<() => void>();

  return {
    remember({ match, scope, outcome }) {
      const start = performance.now();
      const forget = () => {
        stop();
        remembered.delete(forget);
      };
      const stop = dispatcher.listen({
        names: namesIn([match]),
        distinct_id: distinctIdIn([match]),
        project: scope.project,
        outcome,
        tell(event) {
          const isOld = performance.now() - start > memory;
          if (!isOld && (event.seq <= scope.since || !fitsEvent(match, event))) return;
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
