import { inspect } from "node:util";
import { didYouMean } from "../kernel/base/nearest.ts";
import { controlTokenExpected, isControlToken, publicUrlExpected, readPublicUrl } from "../kernel/http/reach.ts";
import type { OnChange } from "../lab/scenario/reload.ts";
import type { Mode } from "../lab/tapes/ports.ts";
import { RedactionRuleError, type RedactionRules, readRules } from "../lab/tapes/redact/rules.ts";
import type { MissPolicy } from "../lab/tapes/shapes.ts";
import type { Dialect } from "../state/documents/dialect.ts";
import { type SimOptions, StartError } from "./types.ts";

/** What a value of an option is, in words, and whether a value is that. What it means is checked where it is used. */
interface Kind {
  readonly words: string;
  /** A complaint does not quote the value. */
  readonly isSecret?: true;
  is(value: unknown): boolean;
}

const text: Kind = { words: "a text", is: (value) => typeof value === "string" };
const flag: Kind = { words: "true or false", is: (value) => typeof value === "boolean" };
const callback: Kind = { words: "a function", is: (value) => typeof value === "function" };
const texts: Kind = { words: "a list of texts", is: (value) => Array.isArray(value) && value.every(text.is) };
const statuses: Kind = {
  words: "a list of statuses such as 429",
  is: (value) => Array.isArray(value) && value.every((it) => typeof it === "number"),
};
const port: Kind = {
  words: "a whole number from 0 to 65535",
  is: (value) => typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 65_535,
};
const milliseconds: Kind = {
  words: "a whole number of milliseconds from 1 to 600000",
  is: (value) => typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 600_000,
};
/** Read by a room of its own, which says what is wrong. */
const any: Kind = { words: "", is: () => true };

/** `choices` has each of the words: the compiler sees to it. */
const oneOf = <Word extends string>(choices: Readonly<Record<Word, true>>): Kind => ({
  words: `one of ${Object.keys(choices).join(", ")}`,
  is: (value) => typeof value === "string" && Object.hasOwn(choices, value),
});

const proxy: Kind = {
  words: "options, or false",
  is: (value) => value === false || (typeof value === "object" && value !== null),
};

const token: Kind = {
  words: controlTokenExpected,
  isSecret: true,
  is: (value) => typeof value === "string" && isControlToken(value),
};
const publicUrl: Kind = {
  words: publicUrlExpected,
  is: (value) => typeof value === "string" && readPublicUrl(value) !== undefined,
};

const kinds: Readonly<Record<keyof SimOptions, Kind>> = {
  port,
  host: text,
  token,
  publicUrl,
  data: text,
  keep: text,
  scenario: any,
  dialect: oneOf<Dialect>({ documented: true, production: true }),
  onChange: oneOf<OnChange>({ merge: true, reset: true, ignore: true }),
  fresh: flag,
  adoptTokens: flag,
  rateLimits: flag,
  queryTimeout: milliseconds,
  geoip: text,
  strict: flag,
  clock: any,
  proxy,
  tape: text,
  mode: oneOf<Mode>({ emulate: true, record: true, once: true, new: true, replay: true, spy: true }),
  onMiss: oneOf<MissPolicy>({ fail: true, emulate: true, upstream: true }),
  timing: text,
  skipStatus: statuses,
  approximate: flag,
  maxAge: text,
  upstream: text,
  offline: flag,
  upstreamCa: text,
  include: texts,
  exclude: texts,
  redact: oneOf<NonNullable<SimOptions["redact"]>>({ default: true, pii: true }),
  redaction: any,
  raw: flag,
  allowWrites: flag,
  waitMs: milliseconds,
  reportLinks: flag,
  onStop: callback,
  onNotice: callback,
};
const names = Object.keys(kinds);

const isOption = (name: string): name is keyof SimOptions => Object.hasOwn(kinds, name);

const shown = (value: unknown): string => inspect(value, { depth: 1, maxArrayLength: 5, maxStringLength: 100 });

/** Refuses what types would refuse: a misspelt option must not start another sim than the one that was meant. @throws StartError option */
export function checkOptions(options: SimOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!isOption(name))
      throw new StartError(
        "option",
        `there is no option ${name}${didYouMean(name, names)}`,
        `options: ${names.join(", ")}`,
      );
    const kind = kinds[name];
    if (value !== undefined && !kind.is(value))
      throw new StartError(
        "option",
        kind.isSecret ? `the ${name} cannot be used` : `${name} cannot be ${shown(value)}`,
        `give ${kind.words}`,
      );
  }
}

/** The redaction rules of the options, in the form that a tape has them. @throws StartError option */
export function redactionOf({ redaction }: SimOptions): Required<RedactionRules> | undefined {
  if (redaction === undefined) return undefined;
  try {
    return readRules(redaction);
  } catch (error) {
    if (!(error instanceof RedactionRuleError)) throw error;
    const place = error.path === "" ? "redaction" : `redaction.${error.path}`;
    throw new StartError("option", `${place} ${error.message}`, "see docs/tapes.md#redaction in the package", error);
  }
}
