import { isObject, type JsonObject } from "../base/json.ts";
import { counted } from "../base/text.ts";
import { queryText } from "../call/call.ts";
import { callSim } from "./ask-sim.ts";
import { clean, cleanJson } from "./clean-text.ts";
import { type Command, command, type Shell } from "./command.ts";
import { type Option, type Options, parameterOf } from "./options.ts";
import { findRunning, whereOptions } from "./running-sim.ts";
import type { Settings } from "./settings.ts";
import type { Style } from "./style.ts";

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

export function print(shell: Pick<Shell, "out">, asJson: boolean, result: unknown, lines: readonly string[]): "ok" {
  shell.out.say(...(asJson ? [JSON.stringify(result, null, 2)] : lines));
  return "ok";
}

/** Options of every command that makes one control call. */
export const thinOptions = {
  ...whereOptions,
  json: { kind: "switch", describe: "Print the control API's response" },
} as const;

type Values<O extends Options> = Settings<O & typeof thinOptions>["values"];
type Method = "GET" | "DELETE" | "PUT" | "POST";

interface ControlRow<O extends Options> extends Omit<Command, "options" | "run" | "confirms"> {
  readonly options?: O;
  /** Method and path below /__sim; `:name` is an option's value, and left out without one: `PUT flags/:key`. */
  readonly call: `${Method} ${string}`;
  /** Beside the options that are not in the path: the query of GET and DELETE, the body of PUT and POST. @throws Failure */
  sends?(values: Values<O>): Readonly<Record<string, unknown>>;
  /** For a POST that changes nothing: its answer is a result. */
  readonly reads?: true;
  /** Longest time to wait for the answer (default: 30 s). */
  readonly timeoutMs?: number;
}

interface ThinRow<O extends Options, Answer> extends ControlRow<O> {
  lines(answer: Answer, style: Style, values: Values<O>): readonly string[];
}

interface PageRow<O extends Options, Entry> extends ControlRow<O> {
  /** Key of the answer's list; without its `s`, what one is called. */
  readonly list: string;
  line(entry: Entry, style: Style): string;
}

/** The options as parameters of the control API, without those in the path and `thinOptions`. */
export const parametersIn = (options: Options, values: Readonly<Record<string, unknown>>, path = "") =>
  Object.fromEntries(
    Object.entries(options)
      .filter(([name]) => !Object.hasOwn(thinOptions, name) && !path.split("/").includes(`:${name}`))
      .map(([name, option]) => [parameterOf(name, option), values[name]]),
  );

/** What a query can have; a switch that is off is left out. */
const scalarsIn = (sent: Readonly<Record<string, unknown>>): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]): [string, string | number][] =>
      typeof value === "string" || typeof value === "number" ? [[name, value]] : value === true ? [[name, "true"]] : [],
    ),
  );

function controlCommand<const O extends Options>(
  { call, sends, reads, timeoutMs, options, ...row }: ControlRow<O>,
  json: Option,
  show: (answer: unknown, shell: Shell, values: Values<O>) => void,
): Command {
  const [method = "", pattern = ""] = call.split(" ");
  const isInBody = method === "PUT" || method === "POST";
  const all = { ...options, ...thinOptions, json };
  return command({
    ...row,
    options: all,
    ...(method !== "GET" && !reads && { confirms: true }),
    async run(settings, shell) {
      const values: Readonly<Record<string, unknown>> = settings.values;
      // The compiler does not see that the options of `O` are in `all`.
      const own = settings.values as unknown as Values<O>;
      const sent = { ...parametersIn(all, values, pattern), ...sends?.(own) };
      const path = pattern.replace(/\/:([\w-]+)/g, (_, name) =>
        values[name] === undefined ? "" : `/${encodeURIComponent(String(values[name]))}`,
      );
      const place = isInBody ? path : `${path}${queryText(scalarsIn(sent))}`;
      show(await ask(settings, shell, method, place, isInBody ? sent : undefined, timeoutMs), shell, own);
      return "ok";
    },
  });
}

/** A command that makes one control call and prints the answer; what a change hints at goes to stderr. */
export const thinCommand = <const O extends Options = Record<never, never>, Answer = unknown>({
  lines,
  ...row
}: ThinRow<O, Answer>): Command =>
  controlCommand(row, thinOptions.json, (answer, shell, values) => {
    if (!row.reads && isObject(answer) && typeof answer.hint === "string")
      shell.err.say(`phx-sim: ${clean(answer.hint)}`);
    print(shell, values.json, answer, lines(answer as Answer, shell.outStyle, values));
  });

/** A command that lists entries: a line each, or a JSON object each (`--json`); reports if there are more, or none. */
export const pageCommand = <const O extends Options, Entry>({ list, line, ...row }: PageRow<O, Entry>): Command =>
  controlCommand(row, { kind: "switch", describe: "One JSON object per line" }, (answer, shell, { json }) => {
    const { more, [list]: entries = [] } = answer as { more: boolean } & Record<string, readonly Entry[]>;
    const noun = list.slice(0, -1);
    if (more) shell.err.say(`phx-sim: only ${counted(entries.length, noun)} shown; --limit N shows more`);
    else if (entries.length === 0 && !json) shell.err.say(`phx-sim: no ${list}`);
    shell.out.say(...entries.map((it) => (json ? JSON.stringify(it) : line(it, shell.outStyle))));
  });

export const factLines =
  (style: Style) =>
  (name: string, ...texts: readonly string[]): string[] =>
    texts.map((text, i) => `  ${style.dim((i === 0 ? name : "").padEnd(12))} ${text}`);

export const propertyLines = (properties: JsonObject, longest?: number): string[] =>
  Object.entries(properties).map(([name, value]) => `${clean(name, 80)} = ${cleanJson(value, longest)}`);
