import { existsSync } from "node:fs";
import { tapePlace } from "../tape/place.ts";
import type { Placeholder } from "../tape/redact/placeholders.ts";
import { createExcluder, type Excluder } from "../tape/send/exclude.ts";
import { readRate } from "../tape/send/rate.ts";
import { type Leave, leaveFor, readTarget, type SendTarget } from "../tape/send/target.ts";
import type { GivenKeys, Rate } from "../tape/send/types.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import type { SendSettings } from "./send.ts";

/** The options of `send`, checked. */
export interface SendRequest {
  file: string;
  target: SendTarget;
  isDry: boolean;
  /** Is it dry because nobody said yes? */
  lacksYes: boolean;
  only: readonly string[];
  excluder: Excluder;
  keys: GivenKeys;
  rate: Rate | undefined;
  concurrency: number;
  result: string | undefined;
}

type Values = SendSettings["values"];

/** The options that fill the placeholders of a tape. */
type KeyValues = Pick<Values, "token" | "personal-key" | "fill">;

/** Reads an option's value; what is wrong with it is a usage failure that names the option. */
function checked<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure("usage", `${name}: ${clean(error.message, 300)}`, error);
  }
}

function targetOf({ to }: Values): SendTarget {
  if (to === undefined) throw new Failure("usage", "send needs --to, e.g. --to http://127.0.0.1:7490");
  return checked("--to", () => readTarget(to));
}

function leaveOf(target: SendTarget, values: Values): Leave {
  const permits = {
    yes: values.yes,
    production: values["i-know-this-is-production"],
    hosts: values["allow-host"],
  };
  return checked("--allow-host", () => leaveFor(target, permits));
}

/** The variable that gives the value of one placeholder: `PHX_SIM_SECRET_PASSWORD_1` for `{{secret:password#1}}`. */
export const secretVariable = ({ kind, number }: Placeholder): string =>
  `PHX_SIM_SECRET_${kind.toUpperCase()}_${number}`;

/** What fills the placeholders of a tape. @throws Failure usage */
export const keysOf = (values: KeyValues, env: Shell["env"]): GivenKeys => ({
  project: keyOf("--token", values.token),
  personal: keyOf("--personal-key", values["personal-key"] ?? env.PHX_SIM_PERSONAL_KEY),
  secret: (placeholder) => env[secretVariable(placeholder)] || undefined,
  ...(values.fill === "redacted" && { fill: values.fill }),
});

/** A key goes into headers and URLs as it is. */
function keyOf(name: string, key: string | undefined): string | undefined {
  if (key === undefined || key === "") return undefined;
  if (/^[\x21-\x7e]{1,500}$/.test(key)) return key;
  throw new Failure("usage", `${name} is not a key: it has blanks or letters that no key has`);
}

function rateOf({ rate }: Values): Rate | undefined {
  if (rate === undefined) return undefined;
  const found = readRate(rate);
  if (found) return found;
  throw new Failure("usage", `--rate must be requests a second (10) or a pace (2x), not "${clean(rate)}"`);
}

const mostConcurrency = 64;

function concurrencyOf({ concurrency }: Values): number {
  if (concurrency >= 1 && concurrency <= mostConcurrency) return concurrency;
  throw new Failure("usage", `--concurrency must be from 1 to ${mostConcurrency}, not ${concurrency}`);
}

function resultOf({ result }: Values, cwd: string): string | undefined {
  if (result === undefined) return undefined;
  const place = tapePlace(result, cwd);
  if (!existsSync(place)) return place;
  throw new Failure("usage", `${clean(place)} is there already; give another name with --result`);
}

/** Checks what `send` was told; nothing is read or sent yet. @throws Failure usage */
export function requestOf(values: Values, shell: Shell): SendRequest {
  const target = targetOf(values);
  const leave = leaveOf(target, values);
  if (leave.may === "refused") throw new Failure("usage", clean(leave.why, 600));
  return {
    file: tapePlace(values.tape, shell.cwd),
    target,
    isDry: values["dry-run"] || leave.may === "dry",
    lacksYes: leave.may === "dry",
    only: values.only,
    excluder: checked("--exclude", () => createExcluder(values.exclude)),
    keys: keysOf(values, shell.env),
    rate: rateOf(values),
    concurrency: concurrencyOf(values),
    result: resultOf(values, shell.cwd),
  };
}
