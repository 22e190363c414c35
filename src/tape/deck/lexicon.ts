import { createJudge } from "../redact/rules.ts";
import type { TapeHeader } from "../types.ts";
import { idPattern } from "./canonical.ts";
import type { Lexicon } from "./keys.ts";
import { createSecrecy } from "./secrecy.ts";

/** What tapes of this header have in common; `noise`: paths that differ without meaning, over the header's. */
export function lexiconOf(
  header: Pick<TapeHeader, "redaction" | "noise" | "rules">,
  noise: readonly string[] = [],
): Lexicon {
  const isPersonal = /pii/i.test(header.redaction);
  return {
    ids: idPattern(isPersonal),
    noise: new Set([...header.noise, ...noise]),
    secrecy: createSecrecy(isPersonal, createJudge(header.rules)),
  };
}

/**
 * May a recorded id stand for another live one? UUIDs, keys and tokens may; mail addresses where they are stand-ins
 * of a privacy profile; numbers where an answer of the tape gave them to something that was made.
 */
export const freeIds =
  (created: ReadonlySet<string>) =>
  (id: string): boolean => {
    const kind = id.slice(0, 2);
    if (kind === "n:") return created.has(id);
    return kind === "e:" ? id.endsWith("@example.test") : true;
  };
