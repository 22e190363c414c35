import { ShownText } from "../../parts/tree/row.tsx";
import { cutText } from "../../parts/tree/text.ts";

const longestShown = 200;

/** Captured text in a heading or a fact. */
export function Named({ text, otherwise }: { text: string; otherwise: string }) {
  if (text === "") return <span class="muted">{otherwise}</span>;
  return (
    <>
      <ShownText text={cutText(text, longestShown)} />
      {text.length > longestShown && "…"}
    </>
  );
}
