/** Runs jobs side by side, those that share a lane one after the other. */
export interface Lanes {
  /** Resolves when there is room for more jobs: the caller's reading is held back. */
  add(lanes: readonly number[], job: () => Promise<void>): Promise<void>;
  /** Resolves when all jobs are over. @throws what the first job threw that did */
  done(): Promise<void>;
}

/** Most jobs that wait, for each lane. */
const waiting = 4;

/**
 * A job that is in several lanes waits for all of them, and they for it: a batch of several persons keeps its place
 * among each one's requests.
 */
export function createLanes(count: number): Lanes {
  const ends = Array.from({ length: count }, () => Promise.resolve());
  const pending = new Set<Promise<void>>();
  const thrown: unknown[] = [];

  async function run(earlier: readonly (Promise<void> | undefined)[], job: () => Promise<void>) {
    await Promise.all(earlier);
    if (thrown.length === 0) await job().catch((error: unknown) => thrown.push(error));
  }

  return {
    async add(lanes, job) {
      const end = run(
        lanes.map((lane) => ends[lane]),
        job,
      ).finally(() => pending.delete(end));
      for (const lane of lanes) ends[lane] = end;
      pending.add(end);
      while (pending.size >= count * waiting) await Promise.race(pending);
    },
    async done() {
      await Promise.all(pending);
      if (thrown.length > 0) throw thrown[0];
    },
  };
}

/** Numbers of lanes in turn, for requests that may overtake each other. */
export function takingTurns(count: number): () => number[] {
  let next = 0;
  return () => [next++ % count];
}
