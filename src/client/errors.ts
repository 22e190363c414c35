import { isObject, type JsonObject } from "../kernel/json.ts";
import type { Report } from "../match/types.ts";

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function messageOf({ code, detail, hint }: JsonObject): string {
  const what = `${textOf(code) ?? "error"}: ${textOf(detail) ?? "no detail"}`;
  return typeof hint === "string" ? `${what} (${hint})` : what;
}

/** A control call that was answered with an error, or not at all. */
export class ControlError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `not_found`, `invalid_input` …; without an answer `no_sim`, `sim_closed`. */
  readonly code: string;
  /** The answer: `code`, `detail`, and as the case may be `hint`, `pointer` and further facts. */
  readonly body: JsonObject;

  constructor(status: number, body: JsonObject, options?: { message?: string; cause?: unknown }) {
    super(
      options?.message ?? messageOf(body),
      options?.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = "ControlError";
    this.status = status;
    this.code = textOf(body.code) ?? "error";
    this.body = body;
  }
}

/** What was captured is not what was expected; the message is the report's text. */
export class ExpectationError extends ControlError {
  /** What was wanted, what there was instead, and what may be the cause: the machine's form. */
  readonly report: Report;

  constructor(status: number, body: JsonObject, report: Report) {
    super(status, body, { message: report.text });
    this.name = "ExpectationError";
    this.report = report;
  }
}

/** The error with a line more below the first line of its report. */
export function withLine({ status, body, report }: ExpectationError, line: string): ExpectationError {
  const [head, ...lines] = report.text.split("\n");
  return new ExpectationError(status, body, { ...report, text: [head, `  (${line})`, ...lines].join("\n") });
}

/** The error of an answer: an ExpectationError when there is a report in it. */
export function errorOf(status: number, body: JsonObject): ControlError {
  const report: unknown = body.report;
  return isReport(report) ? new ExpectationError(status, body, report) : new ControlError(status, body);
}

const isReport = (value: unknown): value is Report => isObject(value) && typeof value.text === "string";

/** The frames of a stack, without its first line. */
const framesOf = (stack: string): string => stack.slice(Math.max(0, stack.search(/\n\s+at /)));

/**
 * Runs an assertion; what it throws points at the line that called `above`, so that test runners show the
 * user's code and not ours.
 */
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
