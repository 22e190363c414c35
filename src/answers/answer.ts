import type { ScriptedAnswer } from "../model/answer.ts";
import { filled, isTemplate, uuidsIn } from "./template.ts";

/** An answer as the request core sends it. */
export interface SentAnswer {
  status: number;
  /** name, value, name, value … */
  headers: string[];
  body: string | null;
}

/** Makes the answer to a request, of the decoded text of its body, which only templates need. */
export type Write = (text: () => string | undefined) => SentAnswer;

const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Set by whoever sends the answer: a wrong one would damage the connection, or hide where it comes from. */
const ours: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "transfer-encoding",
  "x-phx-source",
]);

function headersOf(given: Readonly<Record<string, string>>, type: string | undefined): string[] {
  const named = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);
  const isTyped = type === undefined || named.some(([name]) => name === "content-type");
  const own = named.filter(([name]) => !ours.has(name));
  return [...(isTyped ? [] : ["content-type", type]), ...own.flat()];
}

/** How an answer is written; what does not depend on the request is written once. */
export function writerOf({ status, headers = {}, body }: ScriptedAnswer): Write {
  if (body === undefined || bodiless.has(status)) {
    const bare = { status, headers: headersOf(headers, undefined), body: null };
    return () => bare;
  }
  const isText = typeof body === "string";
  const list = headersOf(headers, isText ? "text/plain; charset=utf-8" : "application/json");
  if (!isText && isTemplate(body)) {
    return (text) => ({ status, headers: list, body: JSON.stringify(filled(body, uuidsIn(text()))) });
  }
  const whole = { status, headers: list, body: isText ? body : JSON.stringify(body) };
  return () => whole;
}
