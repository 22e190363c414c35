import { useState } from "preact/hooks";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { numberOf } from "../../../../src/state/journal/event-texts.ts";
import { CopyButton } from "../../../parts/basics.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { plain, spanText } from "../../../parts/text.ts";
import type { KindProps } from "../event-facts.ts";
import { Named } from "../event-parts.tsx";
import {
  actionOf,
  attributeOf,
  captionOf,
  type ElementChain,
  elementsIn,
  nounOf,
  type PageElement,
  selectorOf,
} from "./element-chain.ts";
import { numberIn, textIn } from "./read-values.ts";
import { type NamedValue, ValueList } from "./value-list.tsx";

/** Outer elements beyond these are opened by a click. */
const crumbsAtFirst = 8;

/** The first tab of `$autocapture` and other clicks: the element and where it is in the page. */
export function ElementView({ event }: KindProps) {
  const chain = elementsIn(event.properties);
  const [target] = chain.elements;
  return (
    <div class="stack stack-wide">
      <Sentence name={event.event} properties={event.properties} target={target} />
      {target === undefined ? (
        <p class="muted">
          {chain.isDamaged
            ? "The event's $elements cannot be read."
            : "The event has no elements: neither $elements_chain nor $elements."}
        </p>
      ) : (
        <Chain key={event.seq} chain={chain} />
      )}
    </div>
  );
}

interface SentenceProps {
  name: string;
  properties: JsonObject;
  target: PageElement | undefined;
}

function Sentence({ name, properties, target }: SentenceProps) {
  const caption = textIn(properties, "$el_text") ?? (target && captionOf(target));
  const copied = textIn(properties, "$selected_content");
  const waited = numberIn(properties, "$dead_click_absolute_delay_ms");
  return (
    <p class="first-sentence">
      {plain(actionOf(name, properties), 60)} the {target ? plain(nounOf(target), 60) : "element"}
      {caption !== undefined && (
        <b>
          {" “"}
          <Named text={caption} otherwise="" />
          {"”"}
        </b>
      )}
      {copied !== undefined && (
        <>
          {": “"}
          <Named text={copied} otherwise="" />
          {"”"}
        </>
      )}
      {waited !== undefined && <span class="muted">{` · nothing changed within ${spanText(waited)}`}</span>}
    </p>
  );
}

function Chain({ chain }: { chain: ElementChain }) {
  const [chosen, choose] = useState(0);
  const [isWhole, setWhole] = useState(false);
  const { elements, isCut, isDamaged } = chain;
  const shown = isWhole ? elements : elements.slice(0, crumbsAtFirst);
  const left = elements.length - shown.length;
  const element = elements[chosen];
  const selector = selectorOf(chain, chosen);
  return (
    <>
      <ol class="first-crumbs" aria-label="Element chain">
        {left > 0 && (
          <li>
            <button type="button" class="button" onClick={() => setWhole(true)}>
              {`${left}${isCut ? "+" : ""} more`}
            </button>
            <Icon of="right" />
          </li>
        )}
        {shown
          .map((it, i) => (
            <li key={i}>
              <button type="button" class="button mono" aria-pressed={i === chosen} onClick={() => choose(i)}>
                <Crumb element={it} />
              </button>
              {i > 0 && <Icon of="right" />}
            </li>
          ))
          .reverse()}
      </ol>
      {element && <ValueList label="The element" values={valuesOf(element)} />}
      <div class="row first-selector">
        <code class="cut" title={plain(selector, 500)}>
          <Named text={selector} otherwise="no selector" />
        </code>
        <CopyButton label="Copy selector" text={selector} />
      </div>
      {isDamaged && <p class="muted small">A part of the element chain cannot be read: see the properties.</p>}
      {isCut && <p class="muted small">{`Only the ${elements.length} innermost elements are shown.`}</p>}
    </>
  );
}

function Crumb({ element: { tag, id, classes } }: { element: PageElement }) {
  const [first] = classes;
  return (
    <>
      <span class="first-tag">{plain(tag === "" ? "?" : tag, 40)}</span>
      {id !== undefined ? `#${plain(id, 40)}` : first !== undefined && `.${plain(first, 40)}`}
    </>
  );
}

const places = ["nth-child", "nth-of-type"];

/** Text and attributes; its place among others as numbers, last. */
function valuesOf(element: PageElement): NamedValue[] {
  const { id, text, classes, attributes } = element;
  const hasClass = attributeOf(element, "class") !== undefined;
  return [
    ...(text === undefined ? [] : [["text", text] as const]),
    ...(id === undefined ? [] : [["id", id] as const]),
    ...(hasClass || classes.length === 0 ? [] : [["class", classes.join(" ")] as const]),
    ...attributes.filter(([name]) => !places.includes(name)),
    ...attributes
      .filter(([name]) => places.includes(name))
      .map(([name, value]) => [name, numberOf(value) ?? value] as const),
  ];
}
