import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import type { Json } from "../../kernel/base/json.ts";
import { syntaxErrorAt } from "../../kernel/base/json-syntax.ts";
import { getOrMake } from "../../kernel/base/recent-map.ts";
import { compareText, unsafeCharacters } from "../../kernel/base/text.ts";
import { recordOf } from "../../kernel/http/record-shape.ts";
import { parseShape } from "../../kernel/http/shape-errors.ts";
import { type Baseline, blankRecord, inOrder, type Occurrence, type TestRecord } from "./record.ts";

const BaselineHead = z.strictObject({
  phx_sim_baseline: z.literal(1).describe("Version of the format"),
  sdk: z.literal(true).optional().describe("It also has the SDKs' own events and properties"),
  order: z.literal(false).optional().describe("It has no orders"),
});

/** Each further line: an event, an identity call, a flag or an order of a test; only `test`: it sent nothing. */
const BaselineLine = z
  .strictObject({
    test: z.string(),
    event: z.string().optional(),
    identity: z.string().optional(),
    flag: z.string().optional(),
    order: z.array(z.string()).min(1).optional(),
    count: z.int().min(1).optional(),
    properties: recordOf(z.string().min(1)).optional(),
  })
  .superRefine((line, context) => {
    const { event, identity, flag, order, count, properties } = line;
    const named = [event, identity, flag, order].filter((it) => it !== undefined).length;
    const isCounted = event !== undefined || identity !== undefined;
    const complain = (message: string) => context.addIssue({ code: "custom", message });
    if (named > 1) complain("an object with one of event, identity, flag and order");
    else if (isCounted && count === undefined) complain("an object with a count");
    else if (!isCounted && (count ?? properties) !== undefined) complain("an object with an event or an identity call");
  });
type BaselineLine = z.infer<typeof BaselineLine>;

/** A file that is no baseline: `FILE:LINE: what is wrong; how to fix it`. */
export class BaselineError extends Error {
  constructor(file: string, place: string, message: string) {
    super(`${file}:${place}: ${message}`);
    this.name = "BaselineError";
  }
}

const version = 1;

/** JSON on one line; characters that could hide text in a diff are escaped. */
const jsonLine = (value: object): string =>
  JSON.stringify(value).replace(unsafeCharacters, (it) =>
    it
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );

const occurrence = ({ count, properties }: Occurrence) => ({
  count,
  ...(properties.size > 0 && { properties: Object.fromEntries(inOrder(properties)) }),
});

function linesOf(test: string, { events, identity, flags, orders }: TestRecord): BaselineLine[] {
  const lines = [
    ...inOrder(events).map(([event, it]) => ({ test, event, ...occurrence(it) })),
    ...inOrder(identity).map(([call, it]) => ({ test, identity: call, ...occurrence(it) })),
    ...[...flags].sort(compareText).map((flag) => ({ test, flag })),
    ...orders.map((order) => ({ test, order: [...order] })),
  ];
  return lines.length > 0 ? lines : [{ test }];
}

/** The text of a baseline file. Tests are sorted by name, so that a change shows as a few lines. */
export function writeBaseline({ sdk, order, tests }: Baseline): string {
  const head = { phx_sim_baseline: version, ...(sdk && { sdk }), ...(!order && { order }) };
  const lines = inOrder(tests).flatMap(([test, record]) => linesOf(test, record));
  return [head, ...lines].map((it) => `${jsonLine(it)}\n`).join("");
}

const conflict = /^(?:<{7}|={7}|>{7}|\|{7})(?:\s|$)/;

/** @throws BaselineError */
function parsed(text: string, line: number, file: string): Json {
  if (conflict.test(text))
    throw new BaselineError(
      file,
      `${line}`,
      "a merge conflict is not resolved; keep the lines of both sides, or run `phx-sim baseline update`",
    );
  try {
    return JSON.parse(text);
  } catch {
    const { column } = syntaxErrorAt(text) ?? { column: 1 };
    throw new BaselineError(file, `${line}:${column}`, "it is not JSON; restore the line from git");
  }
}

/** Completes a file's place to a message. @throws BaselineError */
function placed<T>(file: string, line: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    const { pointer = "", hint } = error.extra;
    const what = [pointer, error.message].filter(Boolean).join(" ");
    throw new BaselineError(file, `${line}`, hint === undefined ? what : `${what}; ${hint}`);
  }
}

function headOf(value: Json, file: string): Pick<Baseline, "sdk" | "order"> {
  const found = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [, number] = found.find(([name]) => name === "phx_sim_baseline") ?? [];
  if (number === undefined)
    throw new BaselineError(file, "1", `expected {"phx_sim_baseline":${version}}; it is no baseline`);
  if (number !== version)
    throw new BaselineError(
      file,
      "1",
      `version ${JSON.stringify(number)} of the format is not known, only ${version}; use the version of phx-sim that wrote it`,
    );
  const { sdk = false, order = true } = placed(file, 1, () => parseShape(BaselineHead, value));
  return { sdk, order };
}

const keyOf = ({ test, event, identity, flag, order }: BaselineLine): string =>
  JSON.stringify([test, event, identity, flag, order]);

function add(
  to: ReturnType<typeof blankRecord>,
  { event, identity, flag, order, count = 1, properties = {} }: BaselineLine,
): void {
  const found = { count, properties: new Map(Object.entries(properties)) };
  if (event !== undefined) to.events.set(event, found);
  if (identity !== undefined) to.identity.set(identity, found);
  if (flag !== undefined) to.flags.add(flag);
  if (order !== undefined) to.orders.push(order);
}

/**
 * The baseline of a file's text. A line that occurs twice in the same form counts once: git's union merge makes such.
 * @param file Its name, for errors. @throws BaselineError
 */
export function readBaseline(text: string, file: string): Baseline {
  const rows = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const [first = ""] = rows;
  if (first.trim() === "") throw new BaselineError(file, "1", "it is empty; `phx-sim baseline update` writes it");
  const head = headOf(parsed(first, 1, file), file);
  const tests = new Map<string, ReturnType<typeof blankRecord>>();
  const known = new Map<string, { line: number; row: string }>();
  for (const [i, row] of rows.entries()) {
    const line = i + 1;
    if (line === 1 || row.trim() === "") continue;
    const value = parsed(row, line, file);
    const it = placed(file, line, () => parseShape(BaselineLine, value));
    const earlier = known.get(keyOf(it));
    if (earlier && earlier.row !== row)
      throw new BaselineError(file, `${line}`, `it contradicts line ${earlier.line}; remove one of them`);
    if (earlier) continue;
    known.set(keyOf(it), { line, row });
    add(getOrMake(tests, it.test, blankRecord), it);
  }
  return { ...head, tests };
}

/** The tests of a run over those of a file; with `prune`, the others are left out. */
export function updatedBaseline(before: Baseline | undefined, run: Baseline, prune: boolean): Baseline {
  return { ...run, tests: new Map([...(prune ? [] : (before?.tests ?? [])), ...run.tests]) };
}
