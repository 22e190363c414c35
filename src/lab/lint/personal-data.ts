import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { decodePart } from "../sessions/decode.ts";
import { lossReasons, undecidable, unreadables } from "../sessions/rrweb.ts";
import { textsOfPart } from "../sessions/search.ts";
import type { LintCode } from "./codes.ts";
import type { LintEvent } from "./request.ts";
import type { Rule } from "./rule.ts";

/** Kinds of personal data and credentials. Precision comes first: uncertain matches are not reported. */
type Sensitive = "an e-mail address" | "a card number" | "an IBAN" | "a JSON web token";

const longestText = 10_000;

const localPart = /(?<![\w.+%-])[a-z0-9][\w.+-]{0,63}$/i;
const domain = /^(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,8}([a-z]{2,24})(?![\w-])/i;
/** Not e-mail addresses: `icon@2x.png`, `git@…`, and the login of a URL, `//user@host`. */
const fileEndings: ReadonlySet<string> = new Set(
  "png jpg jpeg gif svg webp avif ico js mjs cjs ts tsx jsx css scss json map html".split(" "),
);
const login = /:\/\/[^\s/?#]{0,200}$/;

function isEmailAt(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 200), at);
  const local = localPart.exec(before)?.[0];
  const ending = domain.exec(text.slice(at + 1, at + 320))?.[1];
  return (
    local !== undefined &&
    ending !== undefined &&
    local.toLowerCase() !== "git" &&
    !fileEndings.has(ending.toLowerCase()) &&
    !login.test(before)
  );
}

/** Searches around each `@`, so that no input makes it slow. */
function hasEmail(text: string): boolean {
  const plain = text.includes("%40") ? text.replaceAll("%40", "@") : text;
  for (let at = plain.indexOf("@"), tries = 0; at !== -1 && tries < 50; tries++) {
    if (isEmailAt(plain, at)) return true;
    at = plain.indexOf("@", at + 1);
  }
  return false;
}

/** Prefixes and lengths of the numbers of common card issuers. */
const issuers =
  /^(?:4\d{15}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14})$/;

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const grouped = /^\d{4}([ -])\d{4,6}\1\d{4,5}(\1\d{4})?$/;
const digitsOnly = /^\d{14,16}$/;

/** True if the whole string is a card number; digits in longer strings may be anything. */
function isCard(text: string): boolean {
  if (text.length > 19 || !(digitsOnly.test(text) || grouped.test(text))) return false;
  const digits = text.replace(/[ -]/g, "");
  return issuers.test(digits) && passesLuhn(digits);
}

const ibanLengths: ReadonlyMap<string, number> = new Map(
  "AD24 AE23 AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GI23 GR27 HR21 HU28 IE22 IS26 IT27 LI21 LT20 LU20 LV21 MC27 MT31 NL18 NO15 PL28 PT25 RO24 SA24 SE24 SI19 SK24 SM27 TR26"
    .split(" ")
    .map((row) => [row.slice(0, 2), Number(row.slice(2))]),
);

/** ISO 13616: with the first four characters moved to the end and letters as numbers from 10, modulo 97 is 1. */
function isIban(text: string): boolean {
  if (text.length > 42 || !/^[A-Z]{2}\d{2} ?[A-Z0-9]/.test(text)) return false;
  const packed = text.replaceAll(" ", "");
  if (ibanLengths.get(packed.slice(0, 2)) !== packed.length || !/^[A-Z0-9]+$/.test(packed)) return false;
  let rest = 0;
  for (const char of packed.slice(4) + packed.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const token = /(?<![\w-])(eyJ[\w-]{10,2000})\.eyJ[\w-]{10,}\.[\w-]{20,}/;

/** Three parts of base64url; the first is a header with an algorithm. */
function hasToken(text: string): boolean {
  const head = text.includes("eyJ") ? token.exec(text)?.[1] : undefined;
  return head !== undefined && Buffer.from(head, "base64url").toString("latin1").includes('"alg"');
}

const finders: readonly (readonly [Sensitive, (text: string) => boolean])[] = [
  ["a JSON web token", hasToken],
  ["a card number", isCard],
  ["an IBAN", isIban],
  ["an e-mail address", hasEmail],
];

export function sensitiveIn(text: string): Sensitive | undefined {
  if (text.length < 6) return undefined;
  const start = text.slice(0, longestText).trim();
  return finders.find(([, find]) => find(start))?.[0];
}

const deepest = 5;
const mostValues = 500;
const longestChain = 50_000;

type Sighting = { path: string; what: Sensitive };

/** Properties that SDKs fill with content of the app or its users: pages, errors, conversations with models. */
const contents: ReadonlySet<string> = new Set([
  "$elements_chain",
  "$elements",
  "$el_text",
  "$exception_list",
  "$exception_message",
  "$ai_input",
  "$ai_output_choices",
  "$ai_input_state",
  "$ai_output_state",
]);

/** Lines of source code in the frames of a stack. */
const sourceLines: ReadonlySet<string> = new Set(["pre_context", "context_line", "post_context"]);

/** Properties of SDKs that hold page addresses; most others hold ids. */
const pageAddresses: ReadonlySet<string> = new Set([
  "$current_url",
  "$initial_current_url",
  "$referrer",
  "$initial_referrer",
  "$session_entry_url",
  "$session_entry_referrer",
  "$pathname",
]);

/** Identifiers by design. */
const ids: ReadonlySet<string> = new Set(["distinct_id", "alias", "token"]);

/** True if the name is that of an id: its value is not a card number. */
const isId = (name: string): boolean => /(?:^|[_\-.])(?:id|ids|uuid)$|(?:[a-z0-9])(?:Id|ID|Ids)$/.test(name);

/** Events for which SDKs also copy `$set` into the properties. Upstream: posthog-ruby, posthog-php. */
const copying: ReadonlySet<string> = new Set(["$identify", "$groupidentify"]);

/** Properties of persons and groups, where an e-mail address is expected. */
const ofPersons: ReadonlySet<string> = new Set(["$set", "$set_once", "$group_set"]);

/** A key may be private, too. */
const keyShown = (key: string): string => (key.length > 60 || sensitiveIn(key) ? "*" : key);

function* sightings(value: Json, path: string, name: string, budget: { left: number }, depth = 0): Generator<Sighting> {
  if (budget.left-- <= 0) return;
  if (typeof value === "string") {
    const what = sensitiveIn(value);
    if (what !== undefined && !(what === "a card number" && isId(name))) yield { path, what };
  } else if (depth < deepest && Array.isArray(value)) {
    for (const it of value) yield* sightings(it, `${path}[]`, name, budget, depth + 1);
  } else if (depth < deepest && isObject(value)) {
    for (const key of Object.keys(value).filter((it) => !sourceLines.has(it)))
      yield* sightings(value[key] ?? null, `${path}.${keyShown(key)}`, key, budget, depth + 1);
  }
}

type Area = readonly [object: JsonObject | undefined, path: string, isOfPersons: boolean];

const areasOf = ({ properties, set, setOnce }: LintEvent): Area[] => [
  [properties, "properties", false],
  [set, "$set", true],
  [setOnce, "$set_once", true],
  ...[...ofPersons].map(
    (name): Area => [isObject(properties[name]) ? properties[name] : undefined, `properties.${name}`, true],
  ),
];

const isExamined = (name: string): boolean =>
  name.startsWith("$") ? pageAddresses.has(name) || contents.has(name) : !ids.has(name);

const attribute = /([\w-]+)="((?:[^"\\]|\\.)*)"/g;

/** Texts and attributes of a chain of elements: `a.link:attr__href="/x"text="Go";div`. */
const elementsIn = (chain: string): Json =>
  Array.from(chain.slice(0, longestChain).matchAll(attribute), ([, name = "", value = ""]) => ({
    [name.replace(/^attr__/, "")]: value,
  }));

const contentOf = (name: string, value: Json): Json =>
  name === "$elements_chain" && typeof value === "string" ? elementsIn(value) : value;

function* personalIn(it: LintEvent): Generator<Sighting> {
  const shared = { left: mostValues };
  const areas = areasOf(it);
  const isCopied = (name: string, value: Json | undefined): boolean =>
    copying.has(it.event) && areas.some(([object, , isOfPersons]) => isOfPersons && object?.[name] === value);
  for (const [object, path, isOfPersons] of areas) {
    for (const name of Object.keys(object ?? {})) {
      if (!isExamined(name)) continue;
      const value = object?.[name] ?? null;
      const budget = contents.has(name) ? { left: mostValues } : shared;
      const isExpected = isOfPersons || isCopied(name, value);
      for (const found of sightings(contentOf(name, value), `${path}.${keyShown(name)}`, name, budget)) {
        if (!isExpected || found.what !== "an e-mail address") yield found;
      }
    }
  }
}

/** `pii_property`; it reports the place, never the value. */
export const personalData = (): Rule => ({
  onEvent(it, { report }) {
    for (const { path, what } of personalIn(it)) report("pii_property", it, `${path} holds ${what}`, path);
  },
});

/** Limits of the search in one part: characters after decompression, and texts. */
const most = { characters: 2 * 1024 * 1024, texts: 5_000 };

/** `pii_in_recording` and `recording_not_read`; they report the place, never the value. */
export const personalRecording = (): Rule => ({
  *onRequest({ recorded }, { report }) {
    for (const { seq, items } of recorded) {
      yield;
      const about = (code: LintCode, subject: string, detail: string): void =>
        report(code, { event: "$snapshot", seq }, detail, subject);
      const notRead = (what: string, why: string): void => about("recording_not_read", what, `${what}: ${why}`);
      const { events, losses } = decodePart(items, most.characters);
      for (const { reason, what } of losses) notRead(what, lossReasons[reason]);
      const texts = textsOfPart(events);
      let left = most.texts;
      for (let next = texts.next(); ; next = texts.next()) {
        if (next.done) {
          for (const it of undecidable)
            if ((next.value[it] ?? 0) > 0) notRead(it, `a ${unreadables[it]} cannot be read as text`);
          break;
        }
        if (left-- <= 0) {
          notRead("texts", `a part has more than the ${most.texts} that are searched`);
          break;
        }
        const { place, text, element, pieces } = next.value;
        const what = sensitiveIn(text);
        if (what === undefined || pieces?.some((it) => sensitiveIn(it) !== undefined)) continue;
        const where = element === null ? place : `${place} of ${element}`;
        about("pii_in_recording", where, `${where} holds ${what}`);
      }
    }
  },
});
