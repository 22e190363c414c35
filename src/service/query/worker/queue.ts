import { clearTimeout, setTimeout } from "../../../kernel/base/real-time.ts";
import { queryTooSlow } from "../refusals.ts";
import { type ReplyPorts, replyTo } from "./feed.ts";
import { type ComputeJob, errorOf, type FromWorker, sentError } from "./messages.ts";
import { QueryProcess } from "./query-process.ts";

/** A query that is to be computed, and what it is computed from. */
interface Order {
  readonly job: Omit<ComputeJob, "mostMs">;
  readonly feed: ReplyPorts;
  readonly signal: AbortSignal;
  /** Time after which its client waits no longer, ms. */
  readonly waitMs: number;
}

type Done = Extract<FromWorker, { readonly is: "done" }>;

interface Waiting extends Order {
  readonly resolve: (done: Done) => void;
  readonly reject: (error: unknown) => void;
}

/** Computes queries one after the other in a process of its own, which is started for the first one. */
export class QueryQueue {
  readonly #mostMs: number;
  readonly #waiting: Waiting[] = [];
  #running: Waiting | undefined;
  #process: QueryProcess | undefined;

  /** @param mostMs Time that one query may compute, ms */
  constructor(mostMs: number, closing: AbortSignal) {
    this.#mostMs = mostMs;
    closing.addEventListener("abort", () => this.#process?.end(new Error("the sim is closing")), { once: true });
  }

  /**
   * The fields of a response.
   * @throws SimError query_timeout, clickhouse_memory_limit_exceeded, not_ready; what the kind throws; the reason of the
   * order's signal once it is aborted
   */
  async compute(order: Order): Promise<Done> {
    const { signal } = order;
    signal.throwIfAborted();
    const { promise, resolve, reject } = settled<Done>();
    const waiting = { ...order, resolve, reject };
    const giveUp = (error: unknown) => {
      reject(error);
      if (this.#running === waiting) this.#process?.end(queryTooSlow());
      else this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    };
    const onAbort = () => giveUp(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(() => giveUp(queryTooSlow()), order.waitMs).unref();
    this.#waiting.push(waiting);
    this.#next();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  #next(): void {
    if (this.#running) return;
    const next = this.#waiting.shift();
    if (!next) return;
    this.#running = next;
    this.#run(next)
      .then(next.resolve, next.reject)
      .finally(() => {
        this.#running = undefined;
        this.#next();
      });
  }

  async #run({ job, feed }: Waiting): Promise<Done> {
    const process = this.#ready();
    process.hold(true);
    try {
      await process.send({ is: "job", job: { ...job, mostMs: this.#mostMs } });
      for (;;) {
        const message = await process.receive(this.#mostMs);
        if (message.is === "done") return message;
        if (message.is === "failed") throw errorOf(message.error);
        try {
          await replyTo(message.question, process, feed);
        } catch (error) {
          await process.send({ is: "failed", error: sentError(error) });
        }
      }
    } finally {
      process.hold(false);
    }
  }

  /** The process, a new one if the last one ended. */
  #ready(): QueryProcess {
    if (!this.#process?.isUsable) this.#process = new QueryProcess();
    return this.#process;
  }
}

function settled<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}
