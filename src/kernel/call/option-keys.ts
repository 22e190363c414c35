import { isObject } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";

/** The keys of an options type; the compiler reports a key that is missing here. */
export const keysOf = <T>(keys: Record<keyof T, true>): readonly string[] => Object.keys(keys);

/** The keys that an argument may have, by its position; where they are parameters of a call, the sim checks the others. */
export type OptionKeys = Readonly<Record<number, readonly string[] | { readonly except: readonly string[] }>>;

type MethodOptions<T> = { readonly [Name in keyof T]?: OptionKeys };

const immediate: ReadonlySet<string> = new Set(["events.stream", "guard"]);

/** @throws TypeError at the line that called `above`: the first unknown option with the nearest one, or no object */
export function checkOptions(
  method: string,
  options: OptionKeys,
  args: readonly unknown[],
  above: (...args: never[]) => unknown,
): void {
  for (const [position, known] of Object.entries(options)) {
    const problem = problemOf(args[Number(position)], known);
    if (problem === undefined) continue;
    const options = "except" in known ? "" : ` (options: ${known.join(", ")})`;
    const error = new TypeError(`${method}: ${problem}${options}`);
    Error.captureStackTrace(error, above);
    throw error;
  }
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 120);

/** The first time that is none: JSON has no NaN, and such a limit would be left out. */
function badTime(options: object): string | undefined {
  const bad = Object.entries(options).find(
    ([key, value]) =>
      key.endsWith("Ms") && value !== undefined && !(typeof value === "number" && value >= 0 && value < Infinity),
  );
  return (
    bad && `${bad[0]} is a number of milliseconds from 0, not ${typeof bad[1] === "number" ? bad[1] : shown(bad[1])}`
  );
}

function problemOf(given: unknown, known: OptionKeys[number]): string | undefined {
  if (given === undefined) return undefined;
  if (!isObject(given)) return `expected an object with options, got ${shown(given)}`;
  const wrong = badTime(given);
  if (wrong !== undefined) return wrong;
  if ("except" in known) {
    const key = Object.keys(given).find((it) => known.except.includes(it));
    return key && `unknown option "${key}"`;
  }
  const key = Object.keys(given).find((it) => !known.includes(it));
  return key && `unknown option "${key}"${didYouMean(key, known, (found) => `"${found}"`)}`;
}

function checkMethod(holder: object, name: string, title: string, options: OptionKeys): void {
  const method: unknown = Reflect.get(holder, name);
  if (typeof method !== "function") return;
  const checked = (...args: unknown[]): unknown => {
    try {
      checkOptions(title, options, args, checked);
    } catch (error) {
      if (immediate.has(title)) throw error;
      return Promise.reject(error);
    }
    return Reflect.apply(method, holder, args);
  };
  Reflect.set(holder, name, checked);
}

/** Makes the methods of a part of the client reject options that they do not have. @param part "": the handle itself */
export const knownOptions =
  <T extends object>(part: string, options: MethodOptions<T>) =>
  <M extends T>(methods: M): M => {
    for (const [name, keys] of Object.entries(options as Readonly<Record<string, OptionKeys>>))
      checkMethod(methods, name, part === "" ? name : `${part}.${name}`, keys);
    return methods;
  };
