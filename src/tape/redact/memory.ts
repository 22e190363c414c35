import { createHash } from "node:crypto";
import { placeholdersIn, placeholderText } from "./placeholders.ts";

/** Which secret is which, over a tape. */
export interface Memory {
  /** How many are known; it only grows. */
  readonly size: number;
  /** The placeholder of a secret; equal ones get the same one, whatever they are called later. */
  placeholder(kind: string, secret: string): string;
  /** Known secrets that stand somewhere in the text, without a name and without a shape. */
  replaceKnown(text: string, take: (kind: string, secret: string) => string): string;
  /** Numbers of placeholders in the text are taken. */
  reserve(text: string): void;
}

/** As many known values are looked for in every text; older ones only where their name or shape gives them away. */
const mostLookedFor = 200;

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Long enough, and too odd to be a word that stands somewhere by chance; ids in cookies are ids elsewhere, too. */
const isTelling = (secret: string): boolean =>
  !uuid.test(secret) &&
  secret.length >= 12 &&
  secret.length <= 512 &&
  /\d/.test(secret) &&
  /[A-Za-z]/.test(secret) &&
  !secret.includes("{{secret:");

const keyOf = (secret: string): string =>
  secret.length <= 256 ? secret : createHash("sha256").update(secret).digest("base64");

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** The longest first: one may begin like another. */
const anyOf = (texts: Iterable<string>): RegExp =>
  new RegExp(
    [...texts]
      .sort((a, b) => b.length - a.length)
      .map(escaped)
      .join("|"),
    "g",
  );

/** A memory without secrets. */
export function createMemory(): Memory {
  const placeholders = new Map<string, string>();
  const last = new Map<string, number>();
  const telling = new Map<string, string>();
  let search: RegExp | undefined;
  const learn = (kind: string, secret: string): void => {
    if (!isTelling(secret)) return;
    telling.set(secret, kind);
    const [oldest] = telling.keys();
    if (telling.size > mostLookedFor && oldest !== undefined) telling.delete(oldest);
    search = undefined;
  };
  return {
    get size() {
      return placeholders.size;
    },
    placeholder(kind, secret) {
      const key = keyOf(secret);
      const known = placeholders.get(key);
      if (known !== undefined) return known;
      const number = (last.get(kind) ?? 0) + 1;
      last.set(kind, number);
      const text = placeholderText(kind, number);
      placeholders.set(key, text);
      learn(kind, secret);
      return text;
    },
    replaceKnown(text, take) {
      if (telling.size === 0 || text.length < 12) return text;
      search ??= anyOf(telling.keys());
      return text.replace(search, (secret) => take(telling.get(secret) ?? "secret", secret));
    },
    reserve(text) {
      for (const { kind, number } of placeholdersIn(text))
        last.set(kind, Math.max(last.get(kind) ?? 0, number));
    },
  };
}
