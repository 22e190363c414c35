interface OutcomeText {
  /** For terminals; the page draws it (ui/parts/outcome.tsx). */
  readonly sign: string;
  readonly of: "events" | "requests";
  readonly means: string;
}

/** The outcomes: each has one word, its key, and one sign everywhere. Events have one of the first three. */
export const outcomes = {
  kept: { sign: "✓", of: "events", means: "stored as sent" },
  warned: { sign: "△", of: "events", means: "stored, but changed or doubtful: a code gives the reason" },
  dropped: { sign: "✕", of: "events", means: "lost, although the request was answered: a code gives the reason" },
  rejected: { sign: "⊖", of: "requests", means: "refused as a whole: none of its events is stored" },
} as const satisfies Readonly<Record<string, OutcomeText>>;

export type Outcome = keyof typeof outcomes;

export type EventOutcome = Exclude<Outcome, "rejected">;

/** The outcome of an event. The HTTP API reports a warned event as `kept`, with its `warnings`. */
export function outcomeOf(event: {
  readonly outcome: "kept" | "dropped";
  readonly warnings: readonly unknown[];
}): EventOutcome {
  if (event.outcome === "dropped") return "dropped";
  return event.warnings.length > 0 ? "warned" : "kept";
}

export const outcomeText = (outcome: Outcome): string => `${outcomes[outcome].sign} ${outcome}`;
