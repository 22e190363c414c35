import type { Json } from "../../../kernel/base/json.ts";
import { dropReasons, warnings } from "../drop-reasons.ts";
import { eventLanguage } from "./event-language.ts";
import { checkFor, meant, numberIn, type ValueCheck, type ValueProblem } from "./kinds.ts";
import type { Field, Language } from "./language.ts";
import { type Node, parse } from "./parse.ts";
import { pathText, printed, quoted } from "./print.ts";
import { requestLanguage } from "./request-language.ts";
import { type Name, nameAt, type Span, type Term, type Value } from "./scan.ts";
import type { EventSubject, FilterProblem, FilterReading, IndexedPart, RequestSubject } from "./types.ts";

interface Compiled<Subject> {
  readonly isLight: boolean;
  readonly indexed: IndexedPart;
  readonly isIndexed: boolean;
  readonly isTimed: boolean;
  test(subject: Subject, now: number): boolean;
}

interface Context<Subject> {
  readonly language: Language<Subject>;
  readonly problems: FilterProblem[];
}

const nowhere: IndexedPart = {};

const indexKeys = [
  "event",
  "distinct_id",
  "project",
  "outcome",
  "warned",
  "reason",
  "rejected",
] as const satisfies readonly (keyof IndexedPart)[];

const everything = { isLight: true, indexed: nowhere, isIndexed: true, isTimed: false, test: () => true } as const;

function complain<Subject>(
  { problems }: Context<Subject>,
  { at, length }: Span,
  { message, hint }: ValueProblem,
): void {
  problems.push({ at, length, message, ...(hint !== "" && { hint }) });
}

function anyPasses(found: Json | undefined, check: ValueCheck, now: number): boolean {
  if (found === undefined) return false;
  return Array.isArray(found) ? found.some((it) => anyPasses(it, check, now)) : check(found, now);
}

const propertyNames = new Set(["prop", "properties"]);

const namesOf = <Subject>({ fields }: Language<Subject>): string[] =>
  fields.flatMap((it) => [it.name, ...(it.aliases ?? [])]);

function hintFor<Subject>({ path }: Name, whole: string, language: Language<Subject>): string {
  const [first = ""] = path;
  if (first.startsWith("$")) return `did you mean prop.${pathText(path)}?`;
  const near = meant(first, [...namesOf(language), "prop", "has", "is"]);
  if (near !== undefined && path.length === 1) return `did you mean ${near}?`;
  return `for a property write prop.${pathText(path)}, for the text ${quoted(whole)}`;
}

function fieldOf<Subject>(context: Context<Subject>, name: Name, whole: string): Field<Subject> | undefined {
  const { language } = context;
  const [first = "", ...path] = name.path;
  const shown = pathText(name.path);
  if (propertyNames.has(first)) {
    if (path.length > 0 && name.isWhole) return language.property(path);
    complain(context, name, { message: "a property's name is missing", hint: "for example prop.amount" });
    return undefined;
  }
  const found = language.fields.find((it) => it.name === first || it.aliases?.includes(first));
  if (found && path.length === 0 && name.isWhole) return found;
  complain(context, name, { message: `there is no field "${shown}"`, hint: hintFor(name, whole, language) });
  return undefined;
}

/** The part of a value that the index can find; not of a glob, or of one of several values. */
function indexedBy<Subject>({ index }: Field<Subject>, { values }: Term): IndexedPart {
  const [value] = values;
  if (!index || !value || values.length > 1 || value.op !== ":") return nowhere;
  const { text, isQuoted } = value;
  if (!isQuoted && text.includes("*")) return nowhere;
  if (index === "project") return wholePart(numberIn(text));
  if (index === "event" || index === "distinct_id") return { [index]: text };
  if (index === "reason") return isCode(text.toLowerCase()) ? { reason: text.toLowerCase() } : nowhere;
  const word = text.toLowerCase();
  return word === "kept" || word === "dropped" ? { outcome: word } : nowhere;
}

const isCode = (text: string): boolean => Object.hasOwn(dropReasons, text) || Object.hasOwn(warnings, text);

const wholePart = (project: number | undefined): IndexedPart =>
  project !== undefined && Number.isSafeInteger(project) && project > 0 ? { project } : nowhere;

function fieldTerm<Subject>(context: Context<Subject>, term: Term, whole: string): Compiled<Subject> {
  const field = fieldOf(context, term.name, whole);
  if (!field) return everything;
  const { kind, example, choices } = field;
  const asked = { name: pathText(term.name.path), example, choices };
  const checks: ValueCheck[] = [];
  for (const value of term.values) {
    const check = checkFor(kind, value, asked);
    if (typeof check === "function") checks.push(check);
    else complain(context, value, check);
  }
  const [only] = checks;
  const check: ValueCheck = checks.length === 1 && only ? only : (found, now) => checks.some((it) => it(found, now));
  const indexed = indexedBy(field, term);
  return {
    isLight: !field.isHeavy,
    indexed,
    isIndexed: indexed !== nowhere,
    isTimed: kind === "after" || kind === "before",
    test: (subject, now) => anyPasses(field.of(subject), check, now),
  };
}

/** `is:` and `has:` take words; other comparisons are problems. */
function wordsOf<Subject>(context: Context<Subject>, { name, values }: Term, example: string): readonly Value[] {
  const odd = values.find((it) => it.op !== ":");
  if (odd) {
    const message = `"${name.path.join(".")}" is not compared with ${odd.op}`;
    complain(context, odd, { message, hint: `for example ${example}` });
  }
  return values;
}

const anyOf = <Subject>(parts: readonly Compiled<Subject>[]): Compiled<Subject> => ({
  isLight: parts.every((it) => it.isLight),
  indexed: parts.length === 1 ? (parts[0]?.indexed ?? nowhere) : nowhere,
  isIndexed: parts.length === 1 && parts[0]?.isIndexed === true,
  isTimed: parts.some((it) => it.isTimed),
  test: (subject, now) => parts.some((it) => it.test(subject, now)),
});

function stateTerm<Subject>(context: Context<Subject>, term: Term): Compiled<Subject> {
  const { states } = context.language;
  const names = states.map((it) => it.name);
  const parts = wordsOf(context, term, `is:${names[0]}`).map((value): Compiled<Subject> => {
    const state = states.find((it) => it.name === value.text.toLowerCase());
    if (state) {
      const { indexed = nowhere, isWider = false, isHeavy = false, test } = state;
      const isIndexed = indexed !== nowhere && !isWider;
      return { isLight: !isHeavy, indexed, isIndexed, isTimed: false, test };
    }
    const near = meant(value.text, names);
    complain(context, value, {
      message: `"is" is ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`,
      hint: near === undefined ? "" : `did you mean is:${near}?`,
    });
    return everything;
  });
  return anyOf(parts);
}

/** True if a value exists: any value of a property, otherwise not 0 and not an empty string. */
function isThere(found: Json | undefined, isProperty: boolean): boolean {
  if (found === undefined) return false;
  if (isProperty) return true;
  return Array.isArray(found) ? found.some((it) => isThere(it, false)) : Boolean(found);
}

function presenceTerm<Subject>(context: Context<Subject>, term: Term): Compiled<Subject> {
  const parts = wordsOf(context, term, "has:prop.email").map((value): Compiled<Subject> => {
    const name = nameAt(value.text, 0);
    const isName = name !== undefined && name.length === value.text.length && !value.isQuoted;
    const { path, isWhole } = isName ? name : { path: [value.text], isWhole: true };
    const field = fieldOf(context, { path, isWhole, at: value.at, length: value.length }, value.text);
    if (!field) return everything;
    const isProperty = field.kind === "anything";
    return {
      isLight: !field.isHeavy,
      indexed: nowhere,
      isIndexed: false,
      isTimed: false,
      test: (subject) => isThere(field.of(subject), isProperty),
    };
  });
  return anyOf(parts);
}

const special = new Map([
  ["is", stateTerm],
  ["has", presenceTerm],
]);

function termPart<Subject>(context: Context<Subject>, term: Term, text: string): Compiled<Subject> {
  const [first = ""] = term.name.path;
  const compile = term.name.path.length === 1 && term.name.isWhole ? special.get(first) : undefined;
  return compile ? compile(context, term) : fieldTerm(context, term, text.slice(term.at, term.at + term.length));
}

function textPart<Subject>({ language }: Context<Subject>, text: string): Compiled<Subject> {
  const lower = text.toLowerCase();
  return {
    isLight: false,
    indexed: nowhere,
    isIndexed: false,
    isTimed: false,
    test: (subject) => language.holds(subject, lower),
  };
}

/** Tests the cheap parts first. If two parts have different values of an indexed key, the first one counts. */
function allOf<Subject>(parts: readonly Compiled<Subject>[]): Compiled<Subject> {
  const inOrder = [...parts].sort((a, b) => Number(b.isLight) - Number(a.isLight));
  const indexed: IndexedPart = Object.assign({}, ...parts.map((it) => it.indexed).reverse());
  const isMet = (part: IndexedPart) => indexKeys.every((key) => part[key] === undefined || part[key] === indexed[key]);
  return {
    isLight: parts.every((it) => it.isLight),
    isIndexed: parts.every((it) => it.isIndexed && isMet(it.indexed)),
    isTimed: parts.some((it) => it.isTimed),
    indexed,
    test: (subject, now) => inOrder.every((it) => it.test(subject, now)),
  };
}

function compile<Subject>(context: Context<Subject>, node: Node, text: string): Compiled<Subject> {
  switch (node.kind) {
    case "text":
      return textPart(context, node.text);
    case "term":
      return termPart(context, node.term, text);
    case "not": {
      const part = compile(context, node.of, text);
      const { isLight, isTimed, test } = part;
      const isNot = (subject: Subject, now: number) => !test(subject, now);
      return { isLight, indexed: nowhere, isIndexed: false, isTimed, test: isNot };
    }
    case "any":
      return anyOf(node.of.map((it) => compile(context, it, text)));
    case "all":
      return allOf(node.of.map((it) => compile(context, it, text)));
  }
}

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
