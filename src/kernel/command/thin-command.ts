import { isObject, type JsonObject } from "../base/json.ts";
import { counted } from "../base/text.ts";
import { queryText } from "../call/call.ts";
import { callSim } from "./ask-sim.ts";
import { clean, cleanJson } from "./clean-text.ts";
import { type Command, command, type Shell } from "./command.ts";
import type { Options } from "./options.ts";
import { findRunning, whereOptions } from "./running-sim.ts";
import type { Settings } from "./settings.ts";
import type { Style } from "./style.ts";

/** Makes one control call to the running sim. @throws Failure */
export async function ask<T>(
  settings: Settings<typeof whereOptions>,
  shell: Shell,
  method: string,
  path: string,
  body?: unknown,
  timeoutMs?: number,
): Promise<T> {
  return callSim<T>(await findRunning(settings, shell), method, path, body, timeoutMs);
}

/** Prints a result as JSON (`--json`) or in lines. */
export function print(shell: Pick<Shell, "out">, asJson: boolean, result: unknown, lines: readonly string[]): "ok" {
  shell.out.say(...(asJson ? [JSON.stringify(result, null, 2)] : lines));
  return "ok";
}

/** Options of every command that makes one control call. */
export const thinOptions = {
  ...whereOptions,
  json: { kind: "switch", describe: "Print the control API's response" },
} as const;

type Values<O extends Options> = Settings<O>["values"];

interface ThinRow<O extends Options & typeof thinOptions, Answer> extends Omit<Command, "options" | "run"> {
  readonly options: O;
  /** Method and path below /__sim; `:name` stands for an option's value: `PUT flags/:key`. */
  readonly call: `${"GET" | "DELETE" | "PUT" | "POST"} ${string}`;
  /** Query of GET and DELETE, body of PUT and POST (default: the options that are not in the path). @throws Failure */
  sends?(values: Values<O>): Readonly<Record<string, unknown>>;
  /** Longest time to wait for the answer (default: 30 s). */
  readonly timeoutMs?: number;
  /** Prints the answer's `hint` on stderr. */
  readonly hints?: true;
  lines(answer: Answer, style: Style, values: Values<O>): readonly string[];
}

/** The options as parameters of the control API, without those in the path and `thinOptions`. */
const parametersIn = (values: Readonly<Record<string, unknown>>, path: string) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => !Object.hasOwn(thinOptions, name) && !path.split("/").includes(`:${name}`))
      .map(([name, value]) => [name.replaceAll("-", "_"), value]),
  );

const scalarsIn = (sent: Readonly<Record<string, unknown>>): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) =>
      typeof value === "string" || typeof value === "number" ? [[name, value] as const] : [],
    ),
  );

/** A command that makes one control call and prints the answer. */
export const thinCommand = <const O extends Options & typeof thinOptions, Answer>(
  thin: ThinRow<O, Answer>,
): Command => {
  const { call, sends, timeoutMs, hints, lines, ...row } = thin;
  const [method = "", pattern = ""] = call.split(" ");
  const isInBody = method === "PUT" || method === "POST";
  return command<O>({
    ...row,
    async run(settings, shell) {
      const values: Readonly<Record<string, unknown>> = settings.values;
      const sent = sends?.(settings.values) ?? parametersIn(values, pattern);
      const path = pattern.replace(/:([\w-]+)/g, (_, name) => encodeURIComponent(String(values[name])));
      const place = isInBody ? path : `${path}${queryText(scalarsIn(sent))}`;
      const answer = await ask<Answer>(settings, shell, method, place, isInBody ? sent : undefined, timeoutMs);
      if (hints && isObject(answer) && typeof answer.hint === "string") shell.err.say(`phx-sim: ${clean(answer.hint)}`);
      return print(shell, settings.values.json, answer, lines(answer, shell.outStyle, settings.values));
    },
  });
};

/** Prints rows: a line each, or a JSON object each (`--json`). */
function printRows<T>(shell: Pick<Shell, "out">, asJson: boolean, rows: readonly T[], line: (row: T) => string): "ok" {
  shell.out.say(...rows.map((it) => (asJson ? JSON.stringify(it) : line(it))));
  return "ok";
}

/** Prints a page of rows, and a notice if there are more, or none. */
export function printPage<T>(
  shell: Pick<Shell, "out" | "err">,
  asJson: boolean,
  { rows, more, noun }: { rows: readonly T[]; more: boolean; noun: string },
  line: (row: T) => string,
): "ok" {
  if (more) shell.err.say(`phx-sim: only ${counted(rows.length, noun)} shown; --limit N shows more`);
  else if (rows.length === 0 && !asJson) shell.err.say(`phx-sim: no ${noun}s`);
  return printRows(shell, asJson, rows, line);
}

/** A fact of what a command shows: its name, then its texts, one a line. */
export const factLines =
  (style: Style) =>
  (name: string, ...texts: readonly string[]): string[] =>
    texts.map((text, i) => `  ${style.dim((i === 0 ? name : "").padEnd(12))} ${text}`);

/** Properties, one a line. */
export const propertyLines = (properties: JsonObject, longest?: number): string[] =>
  Object.entries(properties).map(([name, value]) => `${clean(name, 80)} = ${cleanJson(value, longest)}`);
