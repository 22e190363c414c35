import { dropReasons, warnings } from "../drop-reasons.ts";
import { eventLanguage } from "./event-language.ts";
import { filterFields } from "./fields.ts";
import type { FieldFacts } from "./language.ts";
import { pathText, valueText } from "./print.ts";
import { requestLanguage } from "./request-language.ts";
import { type Name, scan, type Term, type Token, type Value } from "./scan.ts";
import type { Completion, FilterKind, KnownValues } from "./types.ts";

const mostOffered = 50;
const longestOffered = 200;

interface Offer {
  readonly text: string;
  readonly note: string;
  readonly names?: readonly string[];
}

interface Typed {
  readonly from: number;
  readonly to: number;
  readonly word: string;
}

const sentences = new Map<string, string>(
  Object.entries({ ...dropReasons, ...warnings }).map(([code, it]) => [code, it.sentence]),
);

const states: Record<FilterKind, readonly Offer[]> = {
  events: eventLanguage.states.map(({ name, note }) => ({ text: name, note })),
  requests: requestLanguage.states.map(({ name, note }) => ({ text: name, note })),
};

const propertyName = "prop.";

const isOffered = (text: string): boolean => text !== "" && text.length <= longestOffered;

const propertyOffers = ({ properties }: KnownValues, after: string): Offer[] =>
  properties
    .filter(isOffered)
    .map((name) => ({ text: pathText(["prop", name]) + after, note: "a property", names: [name, `prop.${name}`] }));

const fieldOffer = ({ name, aliases = [], note }: FieldFacts, after: string): Offer => ({
  text: name === "prop.NAME" ? propertyName : name + after,
  note,
  names: name === "prop.NAME" ? ["prop"] : [name, ...aliases],
});

/** Properties come after the fields, and only once a letter is typed, because they are many. */
function nameOffers(kind: FilterKind, known: KnownValues, word: string, after: string): Offer[] {
  const fields = filterFields[kind].map((it) => fieldOffer(it, after));
  return word === "" ? fields : [...fields, ...propertyOffers(known, after)];
}

const isField = (it: FieldFacts): boolean => !["has", "is", "prop.NAME"].includes(it.name);

const presenceOffers = (kind: FilterKind, known: KnownValues): Offer[] => [
  ...propertyOffers(known, ""),
  ...filterFields[kind].filter(isField).map((it) => fieldOffer(it, "")),
];

function seenOffers(seen: keyof KnownValues, known: KnownValues): Offer[] {
  const values = seen === "reasons" ? [...new Set([...known.reasons, ...sentences.keys()])] : known[seen];
  return values
    .filter(isOffered)
    .map((value) => ({ text: valueText(value), note: sentences.get(value) ?? "seen", names: [value] }));
}

function valueOffers(kind: FilterKind, { path }: Name, known: KnownValues): Offer[] {
  const [name = ""] = path;
  if (path.length > 1) return [];
  if (name === "is") return [...states[kind]];
  if (name === "has") return presenceOffers(kind, known);
  const field = filterFields[kind].find((it) => it.name === name || it.aliases?.includes(name));
  const offers = field?.choices ?? field?.offers ?? [];
  if (typeof offers === "string") return seenOffers(offers, known);
  return offers.map((text) => ({ text, note: field?.note ?? "" }));
}

function rankOf({ text, names = [text] }: Offer, lower: string): number | undefined {
  const lowered = names.map((it) => it.toLowerCase());
  if (lowered.some((it) => it.startsWith(lower))) return 0;
  return lower.length > 1 && lowered.some((it) => it.includes(lower)) ? 1 : undefined;
}

function chosen(offers: readonly Offer[], { from, to, word }: Typed, typed: string): Completion[] {
  const lower = word.toLowerCase();
  return offers
    .flatMap((offer) => {
      const rank = rankOf(offer, lower);
      return rank === undefined || offer.text === typed ? [] : [{ offer, rank }];
    })
    .sort((a, b) => a.rank - b.rank)
    .slice(0, mostOffered)
    .map(({ offer: { text, note } }) => ({ text, note, from, to }));
}

/** True for tokens that are completed: not for parentheses and dashes. */
const isWord = ({ kind, length }: Token): boolean =>
  kind !== "open" && kind !== "close" && (kind !== "not" || length > 1);

const holds = ({ at, length }: Token, caret: number): boolean => at <= caret && caret <= at + length;

const valueIn = ({ values }: Term, caret: number): Value | undefined => values.findLast((it) => it.at <= caret);

function typedValue(text: string, caret: number, { at, length, isQuoted }: Value, isOpen: boolean): Typed {
  const from = isQuoted ? at + 1 : at;
  return { from: at, to: isOpen ? caret : at + length, word: text.slice(from, caret) };
}

/**
 * The completions at the caret of a filter: fields with their notes, and the known values of the field before the
 * caret. Best first, at most 50; none inside a phrase.
 * @param caret Index of the character after it
 */
export function completeFilter(text: string, caret: number, kind: FilterKind, known: KnownValues): Completion[] {
  const { tokens, problems } = scan(text);
  const token = tokens.findLast((it) => isWord(it) && holds(it, caret));
  const offer = (offers: readonly Offer[], typed: Typed) => chosen(offers, typed, text.slice(typed.from, typed.to));
  const named = (from: number, to: number, after: string) => {
    const word = text.slice(from, caret);
    return offer(nameOffers(kind, known, word, after), { from, to, word });
  };
  if (!token) return named(caret, caret, ":");
  if (token.kind !== "term")
    return token.kind === "text" && token.isQuoted ? [] : named(token.at, token.at + token.length, ":");
  const { name } = token.term;
  if (caret <= name.at + name.length) return named(name.at, name.at + name.length, "");
  const value = valueIn(token.term, caret);
  if (!value) return [];
  const isOpen = problems.some((it) => it.at === value.at && value.isQuoted);
  return offer(valueOffers(kind, name, known), typedValue(text, caret, value, isOpen));
}
