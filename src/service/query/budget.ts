import { SimError } from "../../kernel/base/errors.ts";

const megabyte = 1024 * 1024;

/** What a budget counts. */
interface Sized {
  /** What it takes, in bytes. */
  readonly bytes: number;
}

/** What is kept until the budget needs its place. */
export interface Held<T extends Sized = Sized> {
  readonly content: T;
  /** Number of queries that use it: it is not dropped for another one meanwhile. */
  users: number;
  /** Set once it was dropped although queries use it. */
  refusal?: SimError;
}

/** How something is held. */
interface Holding<T extends Sized> {
  make(): T;
  /** Names it in errors, e.g. `the property "plan"`; without it, it counts only while it is not used. */
  readonly title?: string;
  /** What is dropped with it. */
  parts?(content: T): Iterable<Held>;
}

/** Bounds the memory of columns. */
export interface Budget {
  /** What has this key, and is now used by one query more. */
  use<K, T extends Sized>(all: Map<K, Held<T>>, key: K, holding: Holding<T>): Held<T>;
  drop(held: Held): void;
  /**
   * Drops what is not used, the one that was used longest ago first, until the rest fits; then the largest ones that are
   * used.
   */
  enforce(): void;
}

interface Kept {
  readonly title: string | undefined;
  readonly parts: () => Iterable<Held>;
  readonly remove: () => void;
}

/** @param most In bytes */
export function createBudget(most: number): Budget {
  /** In the order of their last use. */
  const kept = new Map<Held, Kept>();

  const refusalFor = (title: string): SimError =>
    new SimError(
      "invalid_input",
      `the values of ${title} need more than the ${Math.round(most / megabyte)} MB of memory that queries have for columns`,
    );

  function drop(held: Held): void {
    const { parts, remove, title } = kept.get(held) ?? {};
    kept.delete(held);
    remove?.();
    for (const it of parts?.() ?? []) drop(it);
    if (held.users > 0 && title !== undefined) held.refusal = refusalFor(title);
  }

  return {
    use(all, key, { make, title, parts }) {
      const held = all.get(key) ?? { content: make(), users: 0 };
      all.set(key, held);
      held.users++;
      // the last one of the map
      kept.delete(held);
      kept.set(held, {
        title,
        parts: () => parts?.(held.content) ?? [],
        remove() {
          if (all.get(key) === held) all.delete(key);
        },
      });
      return held;
    },
    drop,
    enforce() {
      const counted = [...kept].filter(([it, { title }]) => it.users === 0 || title !== undefined);
      let total = counted.reduce((sum, [it]) => sum + it.content.bytes, 0);
      if (total <= most) return;
      const idle = counted.filter(([it]) => it.users === 0).map(([it]) => it);
      const used = counted.filter(([it]) => it.users > 0).map(([it]) => it);
      for (const it of [...idle, ...used.sort((a, b) => b.content.bytes - a.content.bytes)]) {
        if (total <= most) return;
        total -= it.content.bytes;
        drop(it);
      }
    },
  };
}
