import { isTooDeep, type Json } from "../../../kernel/base/json.ts";
import type { Work } from "../../../kernel/base/work.ts";
import { type Inside, replaceEncoded } from "./encoded.ts";
import { replaceFields, type TakeNamed } from "./fields.ts";
import type { createMemory } from "./memory.ts";
import { isNothing, plainName } from "./names.ts";
import type { Personal } from "./personal.ts";
import { isPlaceholder, replaceAround } from "./placeholders.ts";
import { createSecretRules, type SecretRules } from "./rules.ts";
import { cardNumber, kindOfShape, replaceShapes } from "./shapes.ts";
import { type Leaves, mostDepth, rewriteJson, type Spot, walk, walkInSteps } from "./walk.ts";

export type Take = (kind: string, secret: string, path: string) => string;

export interface SecretFilterParts {
  take: Take;
  /** Secrets that are found wherever they stand. Default: none; each is found by itself. */
  memory?: Pick<ReturnType<typeof createMemory>, "replaceKnown" | "size">;
  personal?: Personal | undefined;
  /** Default: the built-in ones. */
  secretRules?: SecretRules;
  /** Called with each place that is looked at: a header, a parameter, a leaf of a body. */
  onPlace?: ((path: string) => void) | undefined;
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

const isLines = (text: string): boolean =>
  /^\n*\{.*\n/.test(text) && text.split("\n").every((it) => it === "" || (it.startsWith("{") && /\}\r?$/.test(it)));

/** Texts without secrets, so that what is repeated is searched once. */
class CleanTexts {
  readonly #texts = new Set<string>();
  readonly #knownCount: () => number;
  #count = 0;

  /** @param knownCount Number of known secrets: with more of them, a text that was clean may hold one */
  constructor(knownCount: () => number) {
    this.#knownCount = knownCount;
  }

  has(text: string): boolean {
    const count = this.#knownCount();
    if (this.#count !== count || this.#texts.size > 5000) this.#texts.clear();
    this.#count = count;
    return this.#texts.has(text);
  }

  add(text: string): void {
    if (text.length <= 300) this.#texts.add(text);
  }
}

/** Finds secrets in any encoding; its `take` replaces them. Never throws on text; recursion is bounded. */
export class SecretFilter {
  readonly secretRules: SecretRules;
  /** Headers and addresses, each with its place, in which nothing was found. */
  readonly clean: CleanTexts;
  readonly #parts: SecretFilterParts;
  readonly #cleanTexts: CleanTexts;
  /** False where the project's patterns or the privacy profile may look for what is harmless else. */
  readonly #skipsHarmless: boolean;
  readonly #outer: Leaves;

  constructor(parts: SecretFilterParts) {
    const { memory, personal, secretRules = createSecretRules() } = parts;
    this.#parts = parts;
    this.secretRules = secretRules;
    this.clean = new CleanTexts(() => memory?.size ?? 0);
    this.#cleanTexts = new CleanTexts(() => memory?.size ?? 0);
    this.#skipsHarmless = secretRules.patterns.length === 0 && personal === undefined;
    this.#outer = this.#leaves((it, path) => this.#searched(it, path));
  }

  /** A text: parsed, unescaped, decoded and unpacked as long as there is something in it. */
  text(text: string, path: string): string {
    return this.#outer.text(text, path);
  }

  /** A text that is code or markup: fields with names are none, only what looks like a secret counts. */
  code(text: string, path: string): string {
    return this.#look(text, path, 0, true);
  }

  /** The value of a field of this name; the scheme of an authorization stays. */
  named(name: string, value: string, path: string): string {
    this.#parts.onPlace?.(path);
    const lead = scheme.exec(value)?.[0] ?? "";
    const secret = value.slice(lead.length);
    if (isNothing(secret)) return value;
    return lead + this.#taken(kindOfShape(secret) ?? this.secretRules.kind(name), secret, path);
  }

  /** A decoded body. Undefined: too deep to be walked. */
  *json(value: Json, path: string): Work<Json | undefined> {
    if (isTooDeep(value, mostDepth)) return undefined;
    return yield* walkInSteps(value, { path, around: [] }, this.#outer);
  }

  /** The value of a parameter or header: what its name says about it, else as text. */
  value(value: string, spot: Spot): string {
    const after = walk(value, spot, this.#outer);
    return typeof after === "string" ? after : value;
  }

  #taken(kind: string, secret: string, path: string): string {
    return isPlaceholder(secret) || this.secretRules.keeps(path) ? secret : this.#parts.take(kind, secret, path);
  }

  #known(text: string, take: (kind: string, secret: string) => string): string {
    return this.#parts.memory?.replaceKnown(text, take) ?? text;
  }

  /** All of it is secret where a rule says so of its place. */
  #whole(text: string, path: string): string | undefined {
    const kind = this.secretRules.kindOfPlace(path);
    return kind === undefined || isNothing(text) ? undefined : this.#taken(kind, text, path);
  }

  #leaves(look: (text: string, path: string) => string): Leaves {
    return {
      named: (name, value, path) => this.named(name, value, path),
      text: (text, path) => {
        this.#parts.onPlace?.(path);
        return this.#whole(text, path) ?? look(text, path);
      },
      digits: (digits, path) => {
        const secret = this.#whole(digits, path);
        if (secret !== undefined || !wholeNumber.test(digits)) return secret ?? digits;
        const isShort = this.#skipsHarmless && digits.length < leastDigits;
        return isShort ? this.#known(digits, (kind, it) => this.#taken(kind, it, path)) : this.#shaped(digits, path);
      },
      key: look,
      secrecy: this.secretRules.secrecy,
      personal: (value, spot) => this.#parts.personal?.value(value, spot, spot.path),
    };
  }

  /** What is known by its looks: by the project's patterns, and by the built-in ones. */
  #shaped(text: string, path: string): string {
    const isId = digitsOnly.test(text) && isIdPlace(path);
    const own = this.secretRules.patterns.reduce(
      (out, { kind, replace }) =>
        replaceAround(out, (part) => {
          const after = replace(part, (found) => this.#taken(kind, found, path));
          // a search that takes too long may have missed a secret
          return after ?? this.#taken(`${kind}_search_gave_up`, part, path);
        }),
      text,
    );
    const at = (kind: string, secret: string) =>
      kind === cardNumber && isId ? secret : this.#taken(kind, secret, path);
    return replaceShapes(this.#known(own, at), at);
  }

  #plain(text: string, path: string, isCode: boolean): string {
    if (isCode) return this.#shaped(text, path);
    const take: TakeNamed = (name, value) => this.named(name, value, path);
    const shapes = this.#shaped(replaceFields(text, take, this.secretRules.secrecy), path);
    return this.#parts.personal?.text(shapes, path) ?? shapes;
  }

  #look(text: string, path: string, layer: number, isCode: boolean): string {
    if (text.length < 6 || isPlaceholder(text)) return text;
    if (this.#skipsHarmless && harmless.test(text)) return this.#known(text, (kind, it) => this.#taken(kind, it, path));
    if (layer > mostLayers) return this.#plain(text, path, isCode);
    const deeper = (inner: string): string => this.#look(inner, path, layer + 1, isCode);
    if (!isCode) {
      const inner = this.#leaves((it, at) => this.#look(it, at, layer + 1, false));
      const json = rewriteJson(text, (value) => walk(value, { path, around: [] }, inner));
      if (json !== undefined) return json;
      if (isLines(text)) return text.split("\n").map(deeper).join("\n");
    }
    const inside: Inside = { text: deeper, whole: (stretch) => this.#taken("encoded", stretch, path) };
    return replaceEncoded(this.#plain(text, path, isCode), inside);
  }

  #searched(text: string, path: string): string {
    if (this.#cleanTexts.has(text)) return text;
    const after = this.#look(text, path, 0, false);
    if (after === text) this.#cleanTexts.add(text);
    return after;
  }
}
