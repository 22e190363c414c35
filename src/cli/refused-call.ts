import { isObject } from "../kernel/json.ts";
import { stepsOf } from "../kernel/json-pointer.ts";
import { clean } from "./clean-text.ts";
import { Failure } from "./failure.ts";
import { type Options, spelledOption } from "./options.ts";

/** What the control API answers when it refuses a call. */
interface Refusal {
  readonly detail: string;
  readonly hint?: string;
  /** Where the mistake is: `?limit`, `/match/route`. */
  readonly pointer?: string;
}

const textOf = ({ detail, hint }: Refusal): string =>
  clean(hint === undefined ? detail : `${detail}; ${hint}`);

/** A call that the sim refused, in the words of the control API. `command` puts it in those of the command line. */
export class RefusedCall extends Failure {
  readonly refusal: Refusal;

  constructor(status: number, answer: unknown) {
    const { detail, hint, pointer } = isObject(answer) ? answer : {};
    const refusal = {
      detail: typeof detail === "string" ? detail : `the sim answers ${status}`,
      ...(typeof hint === "string" && { hint }),
      ...(typeof pointer === "string" && { pointer }),
    };
    super(status < 500 ? "usage" : "failed", textOf(refusal));
    this.refusal = refusal;
  }
}

/** Parameters of the control API whose options have other names. */
const optionNames: Readonly<Record<string, readonly string[]>> = {
  batch_export: ["export"],
  duration: ["for"],
  groups: ["group"],
  group_properties: ["group-property"],
  latest_error: ["error"],
  match: ["where"],
  now: ["time", "at"],
  preset: ["fault"],
  timeout_ms: ["timeout"],
};

/** Options whose value is sent as the whole body. */
const wholeBodies = ["fault", "file"];

/** What the control API says of itself, and what that is on the command line. */
const phrases: readonly (readonly [api: string, commandLine: string])[] = [
  ["GET /__sim/info", "`phx-sim status --json`"],
  ["GET /__sim/exports/runs", "`phx-sim exports runs`"],
  ["GET /__sim/state or ", ""],
  ["DELETE /__sim/events", "`phx-sim events clear`"],
  ["DELETE /__sim/snapshots/{name}", "`phx-sim state delete NAME`"],
  ["leave out project, or leave out compact", "leave out --project, or leave out --compact"],
  ["compact=true", "--compact"],
  ['"force" sets', "--force sets"],
  [", or milliseconds as a number", ""],
  [", or milliseconds since 1970", ""],
  ["send `Authorization: Bearer <token>`", "give --token"],
];

const inPhrases = (text: string): string =>
  phrases.reduce((said, [api, commandLine]) => said.replaceAll(api, commandLine), text);

type Origins = Readonly<Record<string, { readonly source: string }>>;

interface Place {
  /** The name that the control API uses. */
  readonly name: string;
  readonly option: string;
}

/** The option that a pointer leads to; one that was given comes before one that could have been. */
function placeOf(pointer: string, options: Options, origins: Origins): Place | undefined {
  const steps = stepsOf(pointer.replace(/^\?/, "/"));
  const places = steps.flatMap((name) =>
    (Object.hasOwn(optionNames, name) ? (optionNames[name] ?? []) : [name.replaceAll("_", "-")])
      .filter((option) => Object.hasOwn(options, option))
      .map((option) => ({ name, option })),
  );
  const isGiven = ({ option }: Place) => origins[option]?.source !== "default";
  const whole = wholeBodies.find((option) => Object.hasOwn(options, option));
  return places.find(isGiven) ?? (whole === undefined ? places[0] : { name: pointer, option: whole });
}

/** The same refusal by the names of a command's options. */
export function inOptionNames(
  { kind, refusal, cause }: RefusedCall,
  options: Options,
  origins: Origins,
): Failure {
  const { detail, hint, pointer } = refusal;
  const place = pointer === undefined ? undefined : placeOf(pointer, options, origins);
  return new Failure(
    kind,
    textOf({
      detail: inPhrases(place ? detailAt(detail, place, options) : detail),
      ...(hint !== undefined && { hint: inPhrases(hint) }),
    }),
    cause,
  );
}

function detailAt(given: string, { name, option }: Place, options: Options): string {
  const isTime = options[option]?.kind === "duration";
  const detail = isTime
    ? given.replace(/a whole number from (\d+) to (\d+)/, "a time from $1 to $2 ms")
    : given;
  const spelled = spelledOption(option, options[option] ?? {});
  const quoted = `"${name}"`;
  if (detail.includes(quoted)) return detail.replace(quoted, spelled);
  const within = name.startsWith("/") ? ` ${name}` : "";
  return detail.startsWith("--") ? detail : `${spelled}${within}: ${detail}`;
}
