import { isTooDeep, type Json } from "../../../kernel/base/json.ts";
import type { Work } from "../../../kernel/base/work.ts";
import { type Inside, replaceEncoded } from "./encoded.ts";
import { replaceFields } from "./fields.ts";
import { isNothing, plainName } from "./names.ts";
import type { Personal } from "./personal.ts";
import { isPlaceholder, replaceAround } from "./placeholders.ts";
import { createSecretRules, type SecretRules } from "./rules.ts";
import { cardNumber, kindOfShape, replaceShapes } from "./shapes.ts";
import { type Leaves, mostDepth, rewriteJson, type Spot, walk, walkInSteps } from "./walk.ts";

/** Takes a secret that was found, and returns its replacement. */
export type Take = (kind: string, secret: string, path: string) => string;

/** Finds secrets in any encoding; its `take` replaces them. */
export interface SecretFilter {
  readonly secretRules: SecretRules;
  /** A text: parsed, unescaped, decoded and unpacked as long as there is something in it. */
  text(text: string, path: string): string;
  /** A text that is code or markup: fields with names are none, only what looks like a secret counts. */
  code(text: string, path: string): string;
  /** The value of a field of this name; the scheme of an authorization stays. */
  named(name: string, value: string, path: string): string;
  /** A decoded body. Undefined: too deep to be walked. */
  json(value: Json, path: string): Work<Json | undefined>;
  /** The value of a parameter or header: what its name says about it, else as text. */
  value(value: string, spot: Spot): string;
  /** Headers and addresses, each with its place, in which nothing was found. */
  readonly clean: CleanTexts;
}

export interface SecretFilterParts {
  take: Take;
  /** Known secrets that stand in a text without a name. */
  known(text: string, take: (kind: string, secret: string) => string): string;
  /** Number of known secrets: with more of them, a text that was clean may hold one. */
  knownCount(): number;
  personal?: Personal;
  /** Built-in rules, unless given. */
  secretRules?: SecretRules;
  /** Called with each place that is looked at: a header, a parameter, a leaf of a body. */
  onPlace?: (path: string) => void;
}

/** Deeper encodings than any client has. */
const mostLayers = 6;

const scheme = /^(bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256) +/i;

const digitsOnly = /^\d+$/;
const wholeNumber = /^-?\d+$/;
/** Numbers with fewer digits have the shape of no secret. */
const leastDigits = 12;
/** True for the place of an id or a time: one in ten numbers of 16 digits has the check digit of a card. */
const isIdPlace = (path: string): boolean =>
  /(?:^|_)(?:ids?|uuid|key|time|timestamp|ts|at|offset|hash)$/.test(
    plainName(path.slice(path.lastIndexOf(".") + 1).replace(/\[\d*\]$/, "")),
  );

/** Most values of events: ids, times, and what is too short for a secret. No name is in them, and nothing is encoded. */
const harmless =
  /^(?:[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)|[$A-Za-z\d. /,+-]{1,11})$/;

/** Objects, one per line: exports and logs are written like that. */
const isLines = (text: string): boolean =>
  /^\n*\{.*\n/.test(text) && text.split("\n").every((it) => it === "" || (it.startsWith("{") && /\}\r?$/.test(it)));

/** Texts without secrets, so that what is repeated is searched once. */
interface CleanTexts {
  has(text: string): boolean;
  add(text: string): void;
}

function cleanTexts(knownCount: () => number): CleanTexts {
  const texts = new Set<string>();
  let count = 0;
  return {
    has(text) {
      if (count !== knownCount() || texts.size > 5000) texts.clear();
      count = knownCount();
      return texts.has(text);
    },
    add(text) {
      if (text.length <= 300) texts.add(text);
    },
  };
}

/** A filter over one take. Never throws on text; recursion is bounded by `mostLayers` and `mostDepth`. */
export function createSecretFilter({
  take,
  known,
  knownCount,
  personal,
  secretRules = createSecretRules(),
  onPlace,
}: SecretFilterParts): SecretFilter {
  const taken: Take = (kind, secret, path) =>
    isPlaceholder(secret) || secretRules.keeps(path) ? secret : take(kind, secret, path);

  const named = (name: string, value: string, path: string): string => {
    onPlace?.(path);
    const lead = scheme.exec(value)?.[0] ?? "";
    const secret = value.slice(lead.length);
    if (isNothing(secret)) return value;
    return lead + taken(kindOfShape(secret) ?? secretRules.kind(name), secret, path);
  };

  /** All of it is secret where a rule says so of its place. */
  const whole = (text: string, path: string): string | undefined => {
    const kind = secretRules.kindOfPlace(path);
    return kind === undefined || isNothing(text) ? undefined : taken(kind, text, path);
  };

  const leaves = (look: (text: string, path: string) => string): Leaves => ({
    named,
    text(text, path) {
      onPlace?.(path);
      return whole(text, path) ?? look(text, path);
    },
    digits(digits, path) {
      const secret = whole(digits, path);
      if (secret !== undefined || !wholeNumber.test(digits)) return secret ?? digits;
      const isShort = skipsHarmless && digits.length < leastDigits;
      return isShort ? known(digits, (kind, it) => taken(kind, it, path)) : shaped(digits, path);
    },
    key: look,
    secrecy: secretRules.secrecy,
    personal: (value, spot) => personal?.value(value, spot, spot.path),
  });

  /** What is known by its looks: by the project's patterns, and by the built-in ones. */
  const shaped = (text: string, path: string): string => {
    const isId = digitsOnly.test(text) && isIdPlace(path);
    const own = secretRules.patterns.reduce(
      (out, { kind, replace }) =>
        replaceAround(out, (part) => {
          const after = replace(part, (found) => taken(kind, found, path));
          // a search that takes too long may have missed a secret
          return after ?? taken(`${kind}_search_gave_up`, part, path);
        }),
      text,
    );
    const at = (kind: string, secret: string) => (kind === cardNumber && isId ? secret : taken(kind, secret, path));
    return replaceShapes(known(own, at), at);
  };

  const plain = (text: string, path: string, isCode: boolean): string => {
    const fields = isCode ? text : replaceFields(text, (name, value) => named(name, value, path), secretRules.secrecy);
    const shapes = shaped(fields, path);
    return personal && !isCode ? personal.text(shapes, path) : shapes;
  };

  // A project's patterns and the privacy profile may look for what is harmless else.
  const skipsHarmless = secretRules.patterns.length === 0 && personal === undefined;
  const look = (text: string, path: string, layer: number, isCode: boolean): string => {
    if (text.length < 6 || isPlaceholder(text)) return text;
    if (skipsHarmless && harmless.test(text)) return known(text, (kind, it) => taken(kind, it, path));
    if (layer > mostLayers) return plain(text, path, isCode);
    const deeper = (inner: string): string => look(inner, path, layer + 1, isCode);
    if (!isCode) {
      const inner = leaves((it, at) => look(it, at, layer + 1, false));
      const json = rewriteJson(text, (value) => walk(value, { path, around: [] }, inner));
      if (json !== undefined) return json;
      if (isLines(text)) return text.split("\n").map(deeper).join("\n");
    }
    const inside: Inside = { text: deeper, whole: (stretch) => taken("encoded", stretch, path) };
    return replaceEncoded(plain(text, path, isCode), inside);
  };

  const cleanOnes = cleanTexts(knownCount);
  const searched = (it: string, path: string): string => {
    if (cleanOnes.has(it)) return it;
    const after = look(it, path, 0, false);
    if (after === it) cleanOnes.add(it);
    return after;
  };
  const outer = leaves(searched);
  return {
    secretRules,
    named,
    text: outer.text,
    code: (it, path) => look(it, path, 0, true),
    *json(value, path) {
      if (isTooDeep(value, mostDepth)) return undefined;
      return yield* walkInSteps(value, { path, around: [] }, outer);
    },
    value(value, spot) {
      const after = walk(value, spot, outer);
      return typeof after === "string" ? after : value;
    },
    clean: cleanTexts(knownCount),
  };
}
