import type { JsonObject } from "../../kernel/base/json.ts";
import { MadeJson } from "../../kernel/http/reply.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Age at which a result is stale, ms, by the query's interval. Upstream PostHog/posthog posthog/caching/utils.py. */
const ages = {
  minute: { usual: 5 * minute, lazy: 15 * minute },
  hour: { usual: hour, lazy: 2 * hour },
  day: { usual: 6 * hour, lazy: 12 * hour },
  week: { usual: day, lazy: day },
  month: { usual: 2 * day, lazy: 2 * day },
} as const;

export type ResultInterval = keyof typeof ages;

export const isResultInterval = (name: unknown): name is ResultInterval =>
  typeof name === "string" && Object.hasOwn(ages, name);

export const staleAt = (computedAt: number, interval: ResultInterval): number => computedAt + ages[interval].usual;

/** A computed response and what it was computed from. */
interface CachedResult {
  readonly response: JsonObject;
  readonly computedAt: number;
  readonly interval: ResultInterval;
  readonly version: string;
}

export interface FoundResult extends CachedResult {
  /** True if the data has changed since, or it is too old. */
  readonly isStale: boolean;
  /** True if it is too old for a reader who accepts older results. */
  readonly isLazilyStale: boolean;
}

interface Entry extends Omit<CachedResult, "response"> {
  /** JSON: its size is known, and no reader can change it. */
  readonly text: string;
  /** Results that are JSON already, and not in the text. */
  readonly results: MadeJson | undefined;
}

const sizeOf = ({ text, results }: Entry): number => text.length + (results?.bytes.length ?? 0);

/** Characters of all results together; a larger one is not kept. */
const mostCharacters = 32 * 1024 * 1024;

/** Results by key; those that were not used for the longest time leave first. */
export function createResultCache() {
  const entries = new Map<string, Entry>();
  let characters = 0;

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry) characters -= sizeOf(entry);
    entries.delete(key);
  }

  return {
    find(key: string, now: number, version: string): FoundResult | undefined {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      const { text, results, ...facts } = entry;
      // a clock that was set back makes every result older than it
      const isOld = now > staleAt(entry.computedAt, entry.interval) || now < entry.computedAt;
      return {
        ...facts,
        response: { ...JSON.parse(text), ...(results && { results }) },
        isStale: isOld || version !== entry.version,
        isLazilyStale: now > entry.computedAt + ages[entry.interval].lazy || now < entry.computedAt,
      };
    },
    keep(key: string, { response, ...facts }: CachedResult): void {
      remove(key);
      const { results, ...others }: { readonly results?: unknown } = response;
      const made = results instanceof MadeJson ? results : undefined;
      const entry = { ...facts, text: JSON.stringify(made ? others : response), results: made };
      if (sizeOf(entry) > mostCharacters) return;
      entries.set(key, entry);
      characters += sizeOf(entry);
      for (const [oldest] of entries) {
        if (characters <= mostCharacters) break;
        remove(oldest);
      }
    },
  };
}
