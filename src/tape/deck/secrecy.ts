import { loginNames } from "../redact/names.ts";
import { isPlaceholder } from "../redact/placeholders.ts";
import { createJudge, type Judge } from "../redact/rules.ts";

/**
 * Which fields redaction takes the values of: those with names of secrets, and those in the places of which a tape
 * has placeholders or stand-ins.
 */
export interface Secrecy {
  /** `path` ends in the field's name. */
  hides(name: string, path: string): boolean;
  /** Looks at a recorded text: a placeholder or stand-in tells that all texts in its place are hidden. */
  learn(text: string, path: string): void;
  /** Looks at the places (`req.body.data.note`) in which redaction has found something in a recorded exchange. */
  learnPlaces(redacted: readonly string[]): void;
  /** Was anything found in this place of a recorded exchange, maybe inside something encoded? */
  isRedacted(path: string): boolean;
  /** From now on nothing is learned: what comes is live. */
  seal(): void;
}

/** Names come from users: so many are remembered. */
const mostNames = 10_000;

/** What the privacy profile puts in the place of addresses, phone numbers, names (redact/personal.ts); mail is an id. */
const standIn = /^(?:198\.1[89]\.\d+\.\d+|2001:db8::[\da-f]+|\+1555\d{7}|(?:Person|Place|Personal) \d+)$/;

/** A field and what it is in: `$set.name`, wherever that stands. */
const placeOf = (path: string): string => path.split(".").slice(-2).join(".");

/** Without positions in lists, and with names as `canonical` writes them: `req.body.a.b c`. */
const plainPath = (path: string): string =>
  path.replace(/\[\d*\]/g, "").replace(/\["((?:[^"\\]|\\.)*)"\]/g, ".$1");

/** `isPersonal`: does the tape have stand-ins for personal data? */
export function createSecrecy(isPersonal: boolean, judge: Judge = createJudge()): Secrecy {
  const byName = new Map<string, boolean>();
  const places = new Set<string>();
  const redactedPlaces = new Set<string>();
  let isSealed = false;
  const named = (name: string): boolean => {
    const found = byName.get(name);
    if (found !== undefined) return found;
    const hides = judge.secrecy(name) !== undefined || loginNames.has(name);
    if (byName.size < mostNames) byName.set(name, hides);
    return hides;
  };
  return {
    hides: (name, path) =>
      (named(name) && !judge.keeps(path)) || (places.size > 0 && places.has(placeOf(path))),
    learn(text, path) {
      if (isSealed || places.size >= mostNames) return;
      if (isPlaceholder(text) || (isPersonal && standIn.test(text))) places.add(placeOf(path));
    },
    learnPlaces(redacted) {
      if (isSealed) return;
      for (const path of redacted) {
        // What is encoded has places inside: `data.note` is in the string `data`.
        for (let at = plainPath(path); at.includes("."); at = at.slice(0, at.lastIndexOf("."))) {
          if (redactedPlaces.has(at) || redactedPlaces.size >= mostNames) break;
          redactedPlaces.add(at);
        }
      }
    },
    isRedacted: (path) => redactedPlaces.size > 0 && redactedPlaces.has(plainPath(path)),
    seal() {
      isSealed = true;
    },
  };
}
