import type { Json } from "../../../src/kernel/json.ts";
import { jsonText } from "../../copy/quote.ts";
import { kindOf, kinds } from "../../parts/tree/model.ts";
import { ShownText } from "../../parts/tree/row.tsx";
import { cutText } from "../../parts/tree/text.ts";

const longest = 300;

/** A text is cut before it is written: it may have megabytes. */
function textOf(value: Json): string {
  if (typeof value === "string") return value.length > longest ? `${cutText(value, longest)}…` : value;
  const text = jsonText(value);
  return text.length > longest ? `${cutText(text, longest)}…` : text;
}

/** A value in a cell: its kind as a mark, then its beginning. */
export function ShownValue({ value }: { value: Json }) {
  const kind = kindOf(value);
  const { name, mark } = kinds[kind];
  return (
    <span class="event-value mono">
      <span class={`tree-kind tree-${kind}`} title={name}>
        <span aria-hidden="true">{mark}</span>
        <span class="unseen">{name}</span>
      </span>
      <span class={`tree-value tree-${kind}`}>
        <ShownText text={textOf(value)} />
      </span>
    </span>
  );
}
