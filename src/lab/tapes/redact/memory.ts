import { createHash } from "node:crypto";
import { escapedPattern } from "../../../kernel/base/text.ts";
import { placeholdersIn, placeholderText } from "./placeholders.ts";

/** Most known values that are searched for in every text; older ones are found by name or shape only. */
const mostLookedFor = 200;

/** Higher numbers are on no tape of ours; what follows them would have more digits than a placeholder may have. */
const mostReserved = 99_999_999;

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** True if a secret is too long and too odd to be a word by chance; ids in cookies are ids elsewhere, too. */
const isTelling = (secret: string): boolean =>
  !uuid.test(secret) &&
  secret.length >= 12 &&
  secret.length <= 512 &&
  /\d/.test(secret) &&
  /[A-Za-z]/.test(secret) &&
  !secret.includes("{{secret:");

const keyOf = (secret: string): string =>
  secret.length <= 256 ? secret : createHash("sha256").update(secret).digest("base64");

/** The longest first: one may begin like another. */
const anyOf = (texts: Iterable<string>): RegExp =>
  new RegExp(
    [...texts]
      .sort((a, b) => b.length - a.length)
      .map(escapedPattern)
      .join("|"),
    "g",
  );

/** Keys that a program has one of each. */
const keyKinds: ReadonlySet<string> = new Set(["project_key", "personal_api_key", "secret_api_key", "authorization"]);

/** @param reusesKeys A tape's only placeholder of a kind of key goes to the first key of that kind that comes */
export function createMemory(reusesKeys = false) {
  const placeholders = new Map<string, string>();
  const last = new Map<string, number>();
  const reserved = new Map<string, Set<number>>();
  const reused = new Set<string>();
  /** The only number of the kind on the tape; it is given away once. */
  function reusedNumber(kind: string): number | undefined {
    const [only, ...more] = reserved.get(kind) ?? [];
    if (more.length > 0 || reused.has(kind)) return undefined;
    reused.add(kind);
    return only;
  }
  const telling = new Map<string, string>();
  let search: RegExp | undefined;
  const learn = (kind: string, secret: string): void => {
    if (!isTelling(secret)) return;
    telling.set(secret, kind);
    const [oldest = ""] = telling.keys();
    if (telling.size > mostLookedFor) telling.delete(oldest);
    search = undefined;
  };
  return {
    /** How many are known; it only grows. */
    get size() {
      return placeholders.size;
    },
    /** The placeholder of a secret; equal ones get the same one, whatever they are called later. */
    placeholder(kind: string, secret: string) {
      const key = keyOf(secret);
      const known = placeholders.get(key);
      if (known !== undefined) return known;
      const number = reusedNumber(kind) ?? (last.get(kind) ?? 0) + 1;
      last.set(kind, number);
      const text = placeholderText(kind, number);
      placeholders.set(key, text);
      learn(kind, secret);
      return text;
    },
    /** Known secrets that stand somewhere in the text, without a name and without a shape. */
    replaceKnown(text: string, take: (kind: string, secret: string) => string) {
      if (telling.size === 0 || text.length < 12) return text;
      search ??= anyOf(telling.keys());
      return text.replace(search, (secret) => take(telling.get(secret) ?? "secret", secret));
    },
    reserve(text: string) {
      for (const { kind, number } of placeholdersIn(text)) {
        if (number > mostReserved) continue;
        last.set(kind, Math.max(last.get(kind) ?? 0, number));
        if (reusesKeys && keyKinds.has(kind)) reserved.set(kind, (reserved.get(kind) ?? new Set()).add(number));
      }
    },
  };
}
