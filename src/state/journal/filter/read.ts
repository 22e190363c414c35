import { compile } from "./compile.ts";
import { eventLanguage } from "./event-language.ts";
import type { Language } from "./language.ts";
import { parse } from "./parse.ts";
import { printed } from "./print.ts";
import { requestLanguage } from "./request-language.ts";
import type { EventSubject, FilterProblem, FilterReading, RequestSubject } from "./types.ts";

/** The most problems that are reported, so that a hostile text does not cause a long answer. */
const mostProblems = 20;

const inOrder = (problems: readonly FilterProblem[]) =>
  [...problems].sort((a, b) => a.at - b.at).slice(0, mostProblems);

function read<Subject>(text: string, language: Language<Subject>): FilterReading<Subject> {
  const { node, problems: syntax } = parse(text);
  if (syntax.length > 0) return { problems: inOrder(syntax) };
  const problems: FilterProblem[] = [];
  const compiled = compile({ language, problems }, node, text);
  if (problems.length > 0) return { problems: inOrder(problems) };
  return { filter: { ...compiled, text: printed(node) } };
}

/**
 * Reads a filter of events; "" matches everything. Returns at most 20 problems, in the order of the text. Limits:
 * 2,000 characters, 40 nested parentheses and negations.
 */
export const readEventFilter = (text: string): FilterReading<EventSubject> => read(text, eventLanguage);

/** Reads a filter of requests; fields of events match if any of the request's events matches. */
export const readRequestFilter = (text: string): FilterReading<RequestSubject> => read(text, requestLanguage);
