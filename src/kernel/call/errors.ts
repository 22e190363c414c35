import type { Report } from "../../lab/assert/match/report-shapes.ts";
import { isObject, type JsonObject, textOf } from "../base/json.ts";

function messageOf({ code, detail, hint }: JsonObject): string {
  const what = `${textOf(code) || "error"}: ${textOf(detail) || "no detail"}`;
  return typeof hint === "string" ? `${what} (${hint})` : what;
}

/** A control call that was answered with an error, or not at all. */
export class ControlError extends Error {
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** `not_found`, `invalid_input` …; without an answer `no_sim`, `sim_closed`. */
  readonly code: string;
  /** The answer: `code`, `detail`, and possibly `hint`, `pointer` and further facts. */
  readonly body: JsonObject;

  constructor(status: number, body: JsonObject, options?: { message?: string; cause?: unknown }) {
    super(options?.message ?? messageOf(body), options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ControlError";
    this.status = status;
    this.code = textOf(body.code) || "error";
    this.body = body;
  }
}

/** The captured events are not the expected ones; the message is the report's text. */
export class ExpectationError extends ControlError {
  /** The report for machines: what was expected, what there was instead, and possible causes. */
  readonly report: Report;

  constructor(status: number, body: JsonObject, report: Report) {
    super(status, body, { message: report.text });
    this.name = "ExpectationError";
    this.report = report;
    // runners print every enumerable property below the message, which has all of it
    for (const name of ["report", "body"]) Object.defineProperty(this, name, { enumerable: false });
  }
}

export function withLine({ status, body, report }: ExpectationError, line: string): ExpectationError {
  const [head, ...lines] = report.text.split("\n");
  return new ExpectationError(status, body, { ...report, text: [head, `  (${line})`, ...lines].join("\n") });
}

export function errorOf(status: number, body: JsonObject): ControlError {
  const report: unknown = body.report;
  return isReport(report) ? new ExpectationError(status, body, report) : new ControlError(status, body);
}

const isReport = (value: unknown): value is Report => isObject(value) && typeof value.text === "string";

const framesOf = (stack: string): string => stack.slice(Math.max(0, stack.search(/\n\s+at /)));

/** Runs an assertion; its errors point at the line that called `above`: test runners then show the user's code. */
export async function fromCaller<T>(above: (...args: never[]) => unknown, run: () => Promise<T>): Promise<T> {
  const caller: { stack?: unknown } = {};
  Error.captureStackTrace(caller, above);
  try {
    return await run();
  } catch (error) {
    if (error instanceof ControlError && typeof caller.stack === "string")
      error.stack = `${error.name}: ${error.message}${framesOf(caller.stack)}`;
    throw error;
  }
}
