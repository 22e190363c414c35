import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { openedText } from "../redact/encoded.ts";
import { loginNames } from "../redact/names.ts";
import { decodedPlaceholders, isPlaceholder } from "../redact/placeholders.ts";
import { createSecretRules, type SecretRules } from "../redact/rules.ts";

export interface Rules {
  /** `path` is generic: `req.body.batch[].uuid`. */
  drops(name: string, path: string): boolean;
  ids: RegExp;
  /** Is what a field of this name holds a secret? Redaction makes placeholders of such values. */
  secrecy: SecretFields;
  /** Noun that a number in a field `id` names: `dashboard`; absent: such a number is a plain one. */
  idNoun?: string | undefined;
}

interface Canonical {
  text: string;
  /** kind and text: `u:0195…` (UUID), `s:phc_…` (key, token), `n:dashboard:42`, `e:jane@…` (mail address). */
  ids: string[];
}

const placeholder = String.raw`\{\{secret:[^{}]*\}\}`;
const key = String.raw`\bph[a-z]_[\w-]{4,}`;
const uuid = String.raw`\b[\da-f]{8,16}-(?:[\da-f]{4,16}-){3}[\da-f]{12,16}\b`;
const mail = String.raw`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`;

/** Ids in strings. Mail addresses are ids only where a tape's are stand-ins of a privacy profile. */
export const idPattern = (withMail: boolean): RegExp =>
  new RegExp([placeholder, key, uuid, ...(withMail ? [mail] : [])].join("|"), "gi");

/** Deeper documents than the service reads are cut: a walk would run out of stack. */
export const maxDepth = 200;

export function tokenOf(found: string): string {
  if (found.startsWith("{{") || /^ph[a-z]_/i.test(found)) return `s:${found}`;
  return found.includes("@") ? `e:${found}` : `u:${found}`;
}

/** The noun of a collection or of a field: `dashboards`, `dashboard_id` → `dashboard`. */
export const nounOf = (name: string): string => name.replace(/_id$/, "").replace(/s+$/, "");

/** The id that a number in this field is; undefined: none. */
export function numberToken(name: string, value: number, rules: Rules): string | undefined {
  if (name === "id") return rules.idNoun === undefined ? undefined : `n:${rules.idNoun}:${value}`;
  return name.endsWith("_id") ? `n:${nounOf(name)}:${value}` : undefined;
}

function stringText(
  text: string,
  { name, path }: { name: string; path: string },
  { secrecy, ids }: Rules,
  taken: (token: string) => string,
): string {
  const decoded = text.includes("%7B%7B") ? decodedPlaceholders(text) : text;
  // Placeholders inside base64 and the like are secrets as any other.
  const plain = secrecy.isRedacted(path) ? openedText(decoded) : decoded;
  if (name !== "") {
    secrecy.learn(plain, path);
    if (secrecy.hides(name, path)) return taken(`s:${plain}`);
  }
  return JSON.stringify(plain.normalize("NFC").replace(ids, (found) => taken(tokenOf(found))));
}

function numberText(number: number, name: string, rules: Rules, taken: (token: string) => string): string {
  const token = numberToken(name, number, rules);
  return token === undefined ? String(number) : taken(token);
}

/** One text for all documents that mean the same: sorted, normalised, without volatile fields and ids. */
export function canonical(value: Json, rules: Rules, root = "req"): Canonical {
  const ids: string[] = [];
  const taken = (token: string): string => {
    ids.push(token);
    return `\u0001${token.slice(0, 2)}`;
  };

  const ofObject = (object: JsonObject, path: string, depth: number): string => {
    const kept = Object.keys(object)
      .filter((name) => object[name] !== undefined && !rules.drops(name, `${path}.${name}`))
      .sort();
    const fields = kept.map((name) => {
      const field = encode(object[name] ?? null, name, `${path}.${name}`, depth + 1);
      return `${JSON.stringify(name.normalize("NFC"))}:${field}`;
    });
    return `{${fields.join(",")}}`;
  };
  const encode = (it: Json, name: string, path: string, depth: number): string => {
    if (typeof it === "string") return stringText(it, { name, path }, rules, taken);
    if (typeof it === "number") return numberText(it, name, rules, taken);
    if (depth > maxDepth) return "…";
    if (Array.isArray(it)) return `[${it.map((el) => encode(el, "", `${path}[]`, depth + 1)).join(",")}]`;
    return isObject(it) ? ofObject(it, path, depth) : String(it);
  };
  return { text: encode(value, "", root, 0), ids };
}

/** Names come from users: most that are remembered. */
const mostNames = 10_000;

/** What the privacy profile puts in for addresses, phone numbers, names (redact/personal.ts); mail is an id. */
const standIn = /^(?:198\.1[89]\.\d+\.\d+|2001:db8::[\da-f]+|\+1555\d{7}|(?:Person|Place|Personal) \d+)$/;

/** A field and what it is in: `$set.name`, wherever that stands. */
const placeOf = (path: string): string => path.split(".").slice(-2).join(".");

/** Without positions in lists, and with names as `canonical` writes them: `req.body.a.b c`. */
const plainPath = (path: string): string => path.replace(/\[\d*\]/g, "").replace(/\["((?:[^"\\]|\\.)*)"\]/g, ".$1");

/** `isPersonal`: true if the tape has stand-ins for personal data. */
export function createSecrecy(isPersonal: boolean, secretRules: SecretRules = createSecretRules()) {
  const byName = new Map<string, boolean>();
  const places = new Set<string>();
  const redactedPlaces = new Set<string>();
  let isSealed = false;
  const named = (name: string): boolean => {
    const found = byName.get(name);
    if (found !== undefined) return found;
    const hides = secretRules.secrecy(name) !== undefined || loginNames.has(name);
    if (byName.size < mostNames) byName.set(name, hides);
    return hides;
  };
  return {
    /** `path` ends in the field's name. */
    hides: (name: string, path: string) =>
      (named(name) && !secretRules.keeps(path)) || (places.size > 0 && places.has(placeOf(path))),
    /** Looks at a recorded text: a placeholder or stand-in means that all strings in its place are hidden. */
    learn(text: string, path: string) {
      if (isSealed || places.size >= mostNames) return;
      if (isPlaceholder(text) || (isPersonal && standIn.test(text))) places.add(placeOf(path));
    },
    /** Looks at the places (`req.body.data.note`) in which redaction has found something in a recorded exchange. */
    learnPlaces(redacted: readonly string[]) {
      if (isSealed) return;
      for (const path of redacted) {
        // What is encoded has places inside: `data.note` is in the string `data`.
        for (let at = plainPath(path); at.includes("."); at = at.slice(0, at.lastIndexOf("."))) {
          if (redactedPlaces.has(at) || redactedPlaces.size >= mostNames) break;
          redactedPlaces.add(at);
        }
      }
    },
    /** True if redaction found anything in this place of a recorded exchange, or in something encoded there. */
    isRedacted: (path: string) => redactedPlaces.size > 0 && redactedPlaces.has(plainPath(path)),
    /** From now on nothing is learned: what comes is live. */
    seal() {
      isSealed = true;
    },
  };
}

/** Fields with names of secrets, and those in the places of which a tape has placeholders or stand-ins. */
export type SecretFields = ReturnType<typeof createSecrecy>;
