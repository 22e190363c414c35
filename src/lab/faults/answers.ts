import { type Write, writerOf } from "./answer-reply.ts";
import type { AnswerPlace, AnswerQueue, ScriptedAnswer, WaitingAnswer } from "./answer-shapes.ts";
import type { CallFacts } from "./call-facts.ts";
import { partitionOf } from "./call-facts.ts";
import { placeTest } from "./routes.ts";

export interface TakenAnswer {
  readonly write: Write;
  readonly keep: boolean;
}

export type ScriptedAnswers = ReturnType<typeof createAnswers>;

interface Waiting extends TakenAnswer {
  readonly shown: Omit<WaitingAnswer, "left">;
  suits(facts: CallFacts): boolean;
  left: number;
}

interface Queue {
  readonly place: AnswerPlace;
  waiting: Waiting[];
  used: number;
}

/** Empty queues are forgotten beyond this many, the oldest first: a long run of tests names ever new partitions. */
const emptyKept = 1_000;

const keyOf = (place: AnswerPlace): string =>
  "project" in place ? `project ${place.project}` : `partition ${place.partition}`;

const isOfProject = ({ place }: Queue): boolean => "project" in place;

function waitingOf(answer: ScriptedAnswer): Waiting {
  const { status, headers = {}, body, results, match = {}, times = 1, keep = false } = answer;
  return {
    shown: {
      status,
      headers,
      ...(body !== undefined && { body }),
      ...(results !== undefined && { results }),
      match,
      keep,
    },
    suits: placeTest(match),
    write: writerOf(answer),
    keep,
    left: times,
  };
}

const showQueue = ({ place, waiting, used }: Queue): AnswerQueue => ({
  project: "project" in place ? place.project : null,
  partition: "project" in place ? null : place.partition,
  waiting: waiting.map(({ shown, left }) => ({ ...shown, left })),
  used,
});

export function createAnswers() {
  const queues = new Map<string, Queue>();
  let active = false;
  let isForProject = false;

  function settle(): void {
    const busy = [...queues.values()].filter(({ waiting }) => waiting.length > 0);
    active = busy.length > 0;
    isForProject = busy.some(isOfProject);
    const empty = [...queues].filter(([, { waiting }]) => waiting.length === 0);
    for (const [key] of empty.slice(0, -emptyKept)) queues.delete(key);
  }

  function queueOf({ headers, project }: CallFacts): Queue | undefined {
    const partition = partitionOf(headers);
    if (partition !== undefined) return queues.get(keyOf({ partition }));
    const id = isForProject ? project() : null;
    return id === null ? undefined : queues.get(keyOf({ project: id }));
  }

  function use(queue: Queue, answer: Waiting): void {
    queue.used++;
    answer.left--;
    if (answer.left > 0) return;
    queue.waiting = queue.waiting.filter((it) => it !== answer);
    if (queue.waiting.length === 0) settle();
  }

  return {
    get active(): boolean {
      return active;
    },
    /** All queues in the order they were made; those that are empty stay until they are cleared. */
    list: (): AnswerQueue[] => [...queues.values()].map(showQueue),
    queue(place: AnswerPlace, answers: readonly ScriptedAnswer[]): AnswerQueue {
      const key = keyOf(place);
      const queue = queues.get(key) ?? { place, waiting: [], used: 0 };
      queue.waiting.push(...answers.map(waitingOf));
      queues.set(key, queue);
      settle();
      return showQueue(queue);
    },
    clear(place?: AnswerPlace): number {
      const gone = [...queues].filter(([key]) => place === undefined || key === keyOf(place));
      for (const [key] of gone) queues.delete(key);
      settle();
      return gone.reduce((sum, [, { waiting }]) => sum + waiting.length, 0);
    },
    /** Takes the first waiting answer that suits the call, of its partition or else its project; the others stay. */
    take(facts: CallFacts): TakenAnswer | undefined {
      const queue = queueOf(facts);
      const answer = queue?.waiting.find((it) => it.suits(facts));
      if (queue && answer) use(queue, answer);
      return answer;
    },
  };
}
