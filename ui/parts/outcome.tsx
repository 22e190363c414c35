import type { ComponentChildren } from "preact";
import type { Outcome } from "../../src/state/journal/outcomes.ts";
import { Prose } from "./basics.tsx";
import { asSentence } from "./text.ts";

/** One icon per outcome: circles, a triangle and an octagon around the marks of the terminal. */
const drawings: Readonly<Record<Outcome, string>> = {
  kept: "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2zM5.5 8.25 7.25 10l3.25-3.75",
  warned: "M8 2.25 14.25 13.25H1.75zM8 6.5v3M8 11.25v.01",
  dropped: "M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2zM5.9 5.9l4.2 4.2M10.1 5.9 5.9 10.1",
  rejected: "M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5zM5.25 8h5.5",
};

/** The icon alone, beside its word. */
export const OutcomeSign = ({ of }: { of: Outcome }) => (
  <svg class={`outcome-sign outcome-${of}`} viewBox="0 0 16 16" aria-hidden="true" data-outcome={of}>
    <path d={drawings[of]} />
  </svg>
);

/** Icon and word of an outcome; `code` or `children` replace the word. */
export function OutcomeBadge({ of, code, children, title }: OutcomeBadgeProps) {
  return (
    <span class={`badge badge-${of}`} title={title}>
      <OutcomeSign of={of} />
      {code === undefined ? (
        (children ?? of)
      ) : (
        <>
          <span class="unseen">{of}: </span>
          {code}
        </>
      )}
    </span>
  );
}

interface OutcomeBadgeProps {
  of: Outcome;
  title?: string | undefined;
  /** A reason or warning instead of the word, which only screen readers get. */
  code?: string | undefined;
  /** A text that contains the word, e.g. `3 dropped`. */
  children?: ComponentChildren;
}

/** `Fix: …`, with code between backticks; nothing for an empty text. */
export const Fix = ({ text, class: name }: { text: string; class?: string }) =>
  text === "" ? null : (
    <span class={name}>
      Fix: <Prose text={asSentence(text)} />
    </span>
  );
