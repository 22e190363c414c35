import type { ComponentChildren } from "preact";
import type { Outcome } from "../../../src/state/journal/outcomes.ts";
import { Badge, Prose } from "../../parts/basics.tsx";
import { OutcomeSign } from "../../parts/outcome.tsx";
import { asSentence } from "../../parts/text.ts";

interface FindingProps {
  /** undefined: a hint, which changes no outcome. */
  of: Outcome | undefined;
  /** A sentence, or its start; code is between backticks. */
  title: string;
  /** `753 events`. */
  count: string;
  isNew?: boolean;
  fix: string;
  /** The machine's reason, and links. */
  children: ComponentChildren;
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** A problem in words, its fix, then the machine's reason and links. */
export const Finding = ({ of, title, count, isNew = false, fix, children }: FindingProps) => (
  <li class={`start-finding is-${of ?? "hint"}`}>
    <h3>
      {of && (
        <span title={of}>
          <OutcomeSign of={of} />
          <span class="unseen">{of}: </span>
        </span>
      )}
      <Prose text={capital(title)} /> <span class="start-count">{count}</span>
      {isNew && (
        <Badge tone="accent" isMarked={false}>
          new
        </Badge>
      )}
    </h3>
    {fix !== "" && (
      <p>
        <b>Fix:</b> <Prose text={asSentence(fix)} />
      </p>
    )}
    <div class="muted">{children}</div>
  </li>
);
