import type { Json } from "../../base/json.ts";
import { dropReasons, warnings } from "../outcome.ts";
import { type Check, type Complaint, checkFor, numberIn } from "./kinds.ts";
import type { Field, Language } from "./language.ts";
import { meant } from "./meant.ts";
import type { Node } from "./parse.ts";
import { pathText, quoted } from "./print.ts";
import { type Name, nameAt, type Span, type Term, type Value } from "./scan.ts";
import type { FilterProblem, IndexedPart } from "./types.ts";

/** A part of a filter that can be asked. */
export interface Compiled<Subject> {
  readonly isLight: boolean;
  readonly indexed: IndexedPart;
  readonly isIndexed: boolean;
  readonly isTimed: boolean;
  test(subject: Subject, now: number): boolean;
}

/** What compiling needs to know: what can be said, and where to put what is wrong. */
interface Bench<Subject> {
  readonly language: Language<Subject>;
  readonly problems: FilterProblem[];
}

const nowhere: IndexedPart = {};

const everything = {
  isLight: true,
  indexed: nowhere,
  isIndexed: true,
  isTimed: false,
  test: () => true,
} as const;

function complain<Subject>(
  { problems }: Bench<Subject>,
  { at, length }: Span,
  { message, hint }: Complaint,
): void {
  problems.push({ at, length, message, ...(hint !== "" && { hint }) });
}

/** Does any of what was found pass? */
function anyPasses(found: Json | undefined, check: Check, now: number): boolean {
  if (found === undefined) return false;
  return Array.isArray(found) ? found.some((it) => anyPasses(it, check, now)) : check(found, now);
}

const propertyNames = new Set(["prop", "properties"]);

/** The names that a field can be called by. */
const namesOf = <Subject>({ fields }: Language<Subject>): string[] =>
  fields.flatMap((it) => [it.name, ...it.aliases]);

/** What an unknown name may have been meant to be. */
function hintFor<Subject>({ path }: Name, whole: string, language: Language<Subject>): string {
  const [first = ""] = path;
  if (first.startsWith("$")) return `did you mean prop.${pathText(path)}?`;
  const near = meant(first, [...namesOf(language), "prop", "has", "is"]);
  if (near !== undefined && path.length === 1) return `did you mean ${near}?`;
  return `for a property write prop.${pathText(path)}, for the text ${quoted(whole)}`;
}

/** The field of a name; undefined, and a problem, where there is none. */
function fieldOf<Subject>(bench: Bench<Subject>, name: Name, whole: string): Field<Subject> | undefined {
  const { language } = bench;
  const [first = "", ...path] = name.path;
  const shown = pathText(name.path);
  if (propertyNames.has(first)) {
    if (path.length > 0 && name.isWhole) return language.property(path);
    complain(bench, name, { message: "a property's name is missing", hint: "for example prop.amount" });
    return undefined;
  }
  const found = language.fields.find((it) => it.name === first || it.aliases.includes(first));
  if (found && path.length === 0 && name.isWhole) return found;
  complain(bench, name, {
    message: `there is no field "${shown}"`,
    hint: hintFor(name, whole, language),
  });
  return undefined;
}

/** What the index can find of a value; nothing where it is a glob, or one of several. */
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

function fieldTerm<Subject>(bench: Bench<Subject>, term: Term, whole: string): Compiled<Subject> {
  const field = fieldOf(bench, term.name, whole);
  if (!field) return everything;
  const { kind, example, choices } = field;
  const asked = { name: pathText(term.name.path), example, choices };
  const checks: Check[] = [];
  for (const value of term.values) {
    const check = checkFor(kind, value, asked);
    if (typeof check === "function") checks.push(check);
    else complain(bench, value, check);
  }
  const [only] = checks;
  const check: Check =
    checks.length === 1 && only ? only : (found, now) => checks.some((it) => it(found, now));
  const indexed = indexedBy(field, term);
  return {
    isLight: field.isLight,
    indexed,
    isIndexed: indexed !== nowhere,
    isTimed: kind === "after" || kind === "before",
    test: (subject, now) => anyPasses(field.of(subject), check, now),
  };
}

/** `is:` and `has:` take words; other comparisons have no meaning there. */
function wordsOf<Subject>(bench: Bench<Subject>, { name, values }: Term, example: string): readonly Value[] {
  const odd = values.find((it) => it.op !== ":");
  if (odd) {
    const message = `"${name.path.join(".")}" is not compared with ${odd.op}`;
    complain(bench, odd, { message, hint: `for example ${example}` });
  }
  return values;
}

/** Any of the parts. */
const anyOf = <Subject>(parts: readonly Compiled<Subject>[]): Compiled<Subject> => ({
  isLight: parts.every((it) => it.isLight),
  indexed: parts.length === 1 ? (parts[0]?.indexed ?? nowhere) : nowhere,
  isIndexed: parts.length === 1 && parts[0]?.isIndexed === true,
  isTimed: parts.some((it) => it.isTimed),
  test: (subject, now) => parts.some((it) => it.test(subject, now)),
});

function stateTerm<Subject>(bench: Bench<Subject>, term: Term): Compiled<Subject> {
  const { states } = bench.language;
  const names = states.map((it) => it.name);
  const parts = wordsOf(bench, term, `is:${names[0]}`).map((value): Compiled<Subject> => {
    const state = states.find((it) => it.name === value.text.toLowerCase());
    const { indexed = nowhere, isWider = false } = state ?? {};
    if (state) return { ...state, indexed, isIndexed: indexed !== nowhere && !isWider, isTimed: false };
    const near = meant(value.text, names);
    complain(bench, value, {
      message: `"is" is ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`,
      hint: near === undefined ? "" : `did you mean is:${near}?`,
    });
    return everything;
  });
  return anyOf(parts);
}

/** Is there something? Of a property its name is enough; a count of 0 or an empty text is nothing. */
function isThere(found: Json | undefined, isProperty: boolean): boolean {
  if (found === undefined) return false;
  if (isProperty) return true;
  return Array.isArray(found) ? found.some((it) => isThere(it, false)) : Boolean(found);
}

function presenceTerm<Subject>(bench: Bench<Subject>, term: Term): Compiled<Subject> {
  const parts = wordsOf(bench, term, "has:prop.email").map((value): Compiled<Subject> => {
    const name = nameAt(value.text, 0);
    const isName = name !== undefined && name.length === value.text.length && !value.isQuoted;
    const { path, isWhole } = isName ? name : { path: [value.text], isWhole: true };
    const field = fieldOf(bench, { path, isWhole, at: value.at, length: value.length }, value.text);
    if (!field) return everything;
    const isProperty = field.kind === "anything";
    return {
      isLight: field.isLight,
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

function termPart<Subject>(bench: Bench<Subject>, term: Term, text: string): Compiled<Subject> {
  const [first = ""] = term.name.path;
  const compile = term.name.path.length === 1 && term.name.isWhole ? special.get(first) : undefined;
  return compile ? compile(bench, term) : fieldTerm(bench, term, text.slice(term.at, term.at + term.length));
}

function textPart<Subject>({ language }: Bench<Subject>, text: string): Compiled<Subject> {
  const lower = text.toLowerCase();
  return {
    isLight: false,
    indexed: nowhere,
    isIndexed: false,
    isTimed: false,
    test: (subject) => language.holds(subject, lower),
  };
}

/** All of the parts, those that cost little first. What the index is told of twice, the first says. */
function allOf<Subject>(parts: readonly Compiled<Subject>[]): Compiled<Subject> {
  const inOrder = [...parts].sort((a, b) => Number(b.isLight) - Number(a.isLight));
  const told = parts.flatMap((it) => Object.keys(it.indexed));
  return {
    isLight: parts.every((it) => it.isLight),
    isIndexed: parts.every((it) => it.isIndexed) && new Set(told).size === told.length,
    isTimed: parts.some((it) => it.isTimed),
    indexed: Object.assign({}, ...parts.map((it) => it.indexed).reverse()),
    test: (subject, now) => inOrder.every((it) => it.test(subject, now)),
  };
}

/** A tree without problems as something that can be asked; what is wrong with its terms is added to the bench's problems. */
export function compile<Subject>(bench: Bench<Subject>, node: Node, text: string): Compiled<Subject> {
  switch (node.kind) {
    case "text":
      return textPart(bench, node.text);
    case "term":
      return termPart(bench, node.term, text);
    case "not": {
      const part = compile(bench, node.of, text);
      const { isLight, isTimed, test } = part;
      const isNot = (subject: Subject, now: number) => !test(subject, now);
      return { isLight, indexed: nowhere, isIndexed: false, isTimed, test: isNot };
    }
    case "any":
      return anyOf(node.of.map((it) => compile(bench, it, text)));
    case "all":
      return allOf(node.of.map((it) => compile(bench, it, text)));
  }
}
