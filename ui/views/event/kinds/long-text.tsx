import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { numberText } from "../../../parts/text.ts";
import { cutText } from "../../../parts/tree/safe-text.ts";
import { ShownText } from "../../../parts/tree/tree-row.tsx";

const [shortText, longText] = [1_500, 100_000];

/** Captured text with its line breaks, shortened until it is opened; other invisible characters are escaped. */
export function LongText({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  const most = isOpen ? longText : shortText;
  return (
    <>
      {cutText(text, most)
        .split(/\r?\n/)
        .map((line, i) => (
          <Fragment key={i}>
            {i > 0 && "\n"}
            <ShownText text={line} />
          </Fragment>
        ))}
      {text.length > most && "…"}
      {text.length > most && !isOpen && (
        <button type="button" class="button button-quiet" onClick={() => setOpen(true)}>
          show all {numberText(text.length)} characters
        </button>
      )}
      {isOpen && text.length > longText && ` ${numberText(text.length)} characters; see Properties`}
    </>
  );
}
