import type { Json } from "../../../kernel/base/json.ts";
import { chainPart } from "../hogql/tables.ts";
import type { QueryContext } from "../kind.ts";
import { operatorTest } from "./operators.ts";
import { refuse } from "./refuse.ts";

/** An element of a page, from the text in which the service keeps a click. */
interface ChainElement {
  readonly tag: string;
  readonly classes: readonly string[];
  readonly attributes: ReadonlyMap<string, string>;
}

const attributesFrom = /:(?=[^"=\s:]+="|$)/;

function elementOf(text: string): ChainElement {
  const [head = "", ...rest] = text.split(attributesFrom);
  const [tag = "", ...classes] = head.split(".");
  const attributes = new Map<string, string>();
  for (const [, name = "", value = ""] of rest.join(":").matchAll(/([^"=\s]+?)="((?:\\.|[^"\\])*)"/g))
    attributes.set(name, value.replaceAll('\\"', '"'));
  return { tag, classes, attributes };
}

/** The elements of a chain, the innermost first. */
function elementsOf(chain: string): ChainElement[] {
  const texts = chain.match(/(?:"(?:\\.|[^"\\])*"|[^";])+/g) ?? [];
  return texts.map(elementOf);
}

/** A part of a CSS selector, e.g. `a.wide[href="/x"]:nth-child(2)`. */
interface SelectorPart extends ChainElement {
  /** The next part is the parent, not any ancestor. */
  readonly isChild: boolean;
}

const attributeNames: Readonly<Record<string, string>> = { id: "attr_id" };

function partOf(text: string, isChild: boolean): SelectorPart {
  const attributes = new Map<string, string>();
  const plain = text
    .replace(/\[\s*([^\]\s=]+)\s*=\s*(['"])(.*?)\2\s*\]/g, (_, name: string, __, value: string) => {
      attributes.set((Object.hasOwn(attributeNames, name) ? attributeNames[name] : undefined) ?? name, value);
      return "";
    })
    .replace(/#([\w-]+)/g, (_, id: string) => {
      attributes.set("attr_id", id);
      return "";
    })
    .replace(/:(nth-child|nth-of-type)\((\d+)\)/g, (_, name: string, number: string) => {
      attributes.set(name, number);
      return "";
    });
  const [tag = "", ...classes] = plain.split(/(?<!\\)\./);
  return { tag: tag === "*" ? "" : tag, classes: classes.map((it) => it.replaceAll("\\", "")), attributes, isChild };
}

/** Parts of a selector, the innermost first. */
function partsOf(selector: string): SelectorPart[] {
  const tokens = selector.match(/(?:\[[^\]]*\]|[^\s>[])+|>/g) ?? [];
  const parts: SelectorPart[] = [];
  for (let i = tokens.length - 1; i >= 0; i--) {
    const token = tokens[i] ?? "";
    if (token !== ">" && token !== "*") parts.push(partOf(token, tokens[i - 1] === ">"));
  }
  return parts;
}

const fits = (part: SelectorPart, { tag, classes, attributes }: ChainElement): boolean =>
  (part.tag === "" || part.tag === tag) &&
  part.classes.every((it) => classes.includes(it)) &&
  [...part.attributes].every(([name, value]) => (attributes.get(name) ?? attributes.get(`attr__${name}`)) === value);

/** True if elements from `from` on are those of the parts, of which each is around the one before. */
function matches(parts: readonly SelectorPart[], elements: readonly ChainElement[], from = 0, only = false): boolean {
  const [part, ...others] = parts;
  if (!part) return true;
  const last = only ? Math.min(from, elements.length - 1) : elements.length - 1;
  for (let at = from; at <= last; at++) {
    const element = elements[at];
    if (element && fits(part, element) && matches(others, elements, at + 1, part.isChild)) return true;
  }
  return false;
}

/** @throws SimError for a selector without a part */
function selectorTest(selector: string): (chain: string) => boolean {
  const parts = partsOf(selector);
  if (parts.length === 0) throw refuse(`The selector ${JSON.stringify(selector)} names no element.`);
  return (chain) => matches(parts, elementsOf(chain));
}

const negated: ReadonlySet<string> = new Set(["is_not", "not_icontains", "not_regex"]);

type ChainTest = (chain: string) => boolean;

function oneTest(key: string, operator: string, value: Json, context: QueryContext): ChainTest {
  if (key === "selector" || key === "tag_name") {
    if (operator !== "exact" && operator !== "is_not")
      throw refuse(`property_to_expr for element ${key} only supports exact and is_not operators, not ${operator}`);
    const test: ChainTest =
      key === "selector"
        ? selectorTest(String(value))
        : (chain) => elementsOf(chain).some((it) => it.tag === String(value));
    return operator === "is_not" ? (chain) => !test(chain) : test;
  }
  if (key !== "href" && key !== "text")
    throw refuse(`property_to_expr for type element not implemented for key ${key}`);
  const test = operatorTest(operator, value, context);
  if (!test) return () => true;
  return key === "href"
    ? (chain) => test.passes(chainPart("elements_chain_href", chain)[0] ?? "")
    : (chain) => chainPart("elements_chain_texts", chain).some((text) => test.passes(text));
}

/**
 * A test of the chain of elements of an event. Upstream PostHog/posthog posthog/hogql/property.py; selectors as the action matcher
 * of the ingestion pipeline, which knows ancestors.
 * @param key `selector`, `tag_name`, `href` or `text`
 * @throws SimError for another key, or an operator that it does not have
 */
export function elementTest(
  key: string,
  operator: string,
  value: Json,
  context: QueryContext,
): (chain: Json | undefined) => boolean {
  const values = Array.isArray(value) ? value : [value];
  const tests = values.map((it) => oneTest(key, operator, it, context));
  const all = negated.has(operator);
  return (chain) => {
    const text = typeof chain === "string" ? chain : "";
    return all ? tests.every((test) => test(text)) : tests.some((test) => test(text));
  };
}
