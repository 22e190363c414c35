import { compile } from "./compile.ts";
import { eventLanguage } from "./event-language.ts";
import type { Language } from "./language.ts";
import { parse } from "./parse.ts";
import { printed } from "./print.ts";
import { requestLanguage } from "./request-language.ts";
import type { EventSubject, FilterProblem, Reading, RequestSubject } from "./types.ts";

/** Who has made more mistakes mends these first; a hostile text is not to make a long answer. */
const mostProblems = 20;

const inOrder = (problems: readonly FilterProblem[]) =>
  [...problems].sort((a, b) => a.at - b.at).slice(0, mostProblems);

function read<Subject>(text: string, language: Language<Subject>): Reading<Subject> {
  const { node, problems: syntax } = parse(text);
  if (syntax.length > 0) return { problems: inOrder(syntax) };
  const problems: FilterProblem[] = [];
  const compiled = compile({ language, problems }, node, text);
  if (problems.length > 0) return { problems: inOrder(problems) };
  return { filter: { ...compiled, text: printed(node) } };
}

/**
 * Reads a filter of events; "" is everything. It never throws: what is wrong is told with its place in the text,
 * first things first, at most 20 of them. At most 2,000 characters, 40 parentheses and negations deep.
 */
export const readEventFilter = (text: string): Reading<EventSubject> => read(text, eventLanguage);

/** The same of requests; what is said of an event means that the request carried such a one. */
export const readRequestFilter = (text: string): Reading<RequestSubject> => read(text, requestLanguage);
