import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { messageOf, shortageOf, systemCode, unreadPart } from "./errors.ts";

interface Part {
  open(): Promise<unknown>;
  /** The names of the files that it imports statically. */
  readonly needs: readonly string[];
}

/** @throws Error with a code of a shortage */
function unread(name: string, cause: unknown): never {
  const code = shortageOf(cause) === undefined ? unreadPart : systemCode(cause);
  throw Object.assign(new Error(`${name}: ${messageOf(cause)}`, { cause }), { code });
}

/** Time until a part of the rest is tried again, ms. */
const afterFailure = 1000;

/**
 * Loads files of the build on first use. Node remembers most failed imports for the life of the process, also those of
 * what a file imports itself. So what a file needs is loaded first, and each file is opened here before Node does.
 * @param base The address that names are relative to
 * @param rest What `loadRest` loads
 */
export function partLoader(parts: Readonly<Record<string, Part>>, base: string, rest: readonly string[]) {
  const loaded = new Map<string, Promise<unknown>>();
  let retries = 0;
  let read: NodeJS.Require | undefined;

  async function open(name: string): Promise<unknown> {
    const part = parts[name];
    if (part === undefined) throw new Error(`the build has no file ${name}`);
    for (const needed of part.needs) await load(needed);
    const url = new URL(name, base);
    if (url.protocol === "file:") closeSync(openSync(url, "r"));
    if (read !== undefined) return read(fileURLToPath(url));
    try {
      return await part.open();
    } catch {
      // the file may have changed since Node remembered a failure
      url.search = `?retry=${++retries}`;
      return await import(url.href);
    }
  }

  /** Rejects if the file cannot be read now; the next call tries again. */
  function load(name: string): Promise<unknown> {
    // other calls have their turn after each file
    const known =
      loaded.get(name) ??
      open(name)
        .catch((cause: unknown) => unread(name, cause))
        .finally(turn);
    loaded.set(name, known);
    known.catch(() => loaded.delete(name));
    return known;
  }

  /**
   * Loads one part after the other until all are there or `signal` aborts; never rejects. For a process of phx-sim's own:
   * from then on files are read at once, so that no connection takes the descriptor in between, which Node 20 would remember.
   * @param pause Resolves when the next part may be loaded
   */
  async function loadRest(signal: AbortSignal, pause: () => Promise<void>): Promise<void> {
    read = createRequire(base);
    for (const name of rest) {
      await pause();
      while (!signal.aborted && (await load(name).catch(() => undefined)) === undefined)
        await delay(afterFailure, undefined, { ref: false, signal }).catch(() => {});
    }
  }
  return { load, loadRest };
}
