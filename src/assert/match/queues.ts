/** How a library keeps events before it sends them. */
interface Queue {
  /** What it calls itself, in `$lib` or in its User-Agent. */
  lib: RegExp;
  /** How often it sends what it has, ms; null where it waits for more events, a call or the process's end. */
  everyMs: number | null;
  /** What makes it send now. */
  flush: string;
}

/** Defaults of the libraries: the times were read in the sources of posthog-js 1.449, posthog-node 5.70, @posthog/core and posthog-go 1.5. */
const queues: readonly Queue[] = [
  { lib: /^(posthog-js|web)$/, everyMs: 3_000, flush: "`request_batching: false` sends at once" },
  {
    lib: /^posthog-node$/,
    everyMs: 5_000,
    flush: "`await client.flush()` or `await client.shutdown()` first",
  },
  { lib: /^posthog-edge$/, everyMs: null, flush: "`await client.shutdown()` first" },
  { lib: /^(posthog-js-lite|js)$/, everyMs: 10_000, flush: "`await posthog.flush()` first, or `flushAt: 1`" },
  { lib: /^posthog-react-native$/, everyMs: 10_000, flush: "`await posthog.flush()` first, or `flushAt: 1`" },
  { lib: /^posthog-go$/, everyMs: 5_000, flush: "`client.Close()` first, or `BatchSize: 1`" },
  { lib: /^posthog-(python|py)$/, everyMs: null, flush: "`posthog.flush()` first, or `sync_mode=True`" },
  { lib: /^posthog-ruby$/, everyMs: null, flush: "`client.flush` first" },
  { lib: /^posthog-php$/, everyMs: null, flush: "`PostHog::flush()` first" },
  { lib: /^posthog-(ios|android|flutter)$/, everyMs: null, flush: "`flush()` first, or `flushAt = 1`" },
  { lib: /^posthog-dotnet$/, everyMs: null, flush: "`await client.FlushAsync()` first" },
];

const seconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`;

/**
 * What to do if an event may still be in the library's queue: a sentence, or undefined where the library is not
 * known or has certainly sent it.
 * @param waited How long was waited for it, ms; null for not at all
 */
export function queueHint(
  { lib, version }: { lib: string; version: string | null },
  waited: number | null,
): string | undefined {
  const queue = queues.find((row) => row.lib.test(lib));
  if (!queue || (queue.everyMs !== null && waited !== null && waited > queue.everyMs)) return undefined;
  const name = version === null ? lib : `${lib} ${version}`;
  return `the event may still be in the SDK's queue: ${name} ${habitOf(queue, waited)}; ${queue.flush}`;
}

function habitOf({ everyMs }: Queue, waited: number | null): string {
  if (everyMs === null) return "keeps events in a queue";
  const habit = `sends only every ${seconds(everyMs)} by default`;
  return waited === null ? habit : `${habit}, and the wait took ${seconds(waited)}`;
}
