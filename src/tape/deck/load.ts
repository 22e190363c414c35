import { bothRules, type TapeRules } from "../redact/rules.ts";
import type { Deck, TapeProblem } from "../types.ts";
import { createDeck } from "./deck.ts";
import { createLibrary } from "./library.ts";
import type { OnExhausted } from "./sequence.ts";
import { type DeckSource, exchangesOf, headerOf, sidesOf } from "./source.ts";

export interface DeckOptions {
  /** What comes when all answers to a request were given; default: the last one again. */
  onExhausted?: OnExhausted;
  /** Answer with exchanges that were cut off, too? Default: no. */
  includeFailures?: boolean;
  /** Statuses with which nothing is answered: another exchange is, where there is one. */
  skipStatus?: readonly number[];
  /** Is only the same request answered, not one for flags of another person? Default: no. */
  exactOnly?: boolean;
  /** Paths that differ without meaning (`req.body.date_from`), over those of the tape's header. */
  noise?: readonly string[];
  /** Rules of the project, over those in the tape's header. */
  rules?: TapeRules | undefined;
  /** Told of each damaged line; it is passed over. */
  onProblem?: (problem: TapeProblem) => void;
}

/**
 * Reads a tape so that requests can be answered from it. Of a file only keys and places stay in memory.
 * @throws TapeError when the file cannot be read, is no tape, or of a newer format
 */
export async function loadDeck(source: DeckSource, options: DeckOptions = {}): Promise<Deck> {
  const { onExhausted = "repeat", exactOnly = false, includeFailures, skipStatus, noise, rules } = options;
  const library = createLibrary({
    header: await headerOf(source),
    includeFailures,
    skipStatus,
    noise,
    sides: sidesOf(source),
  });
  for await (const { exchange, place, body } of exchangesOf(source, options))
    library.add(exchange, place, body);
  return createDeck(library, {
    onExhausted,
    exactOnly,
    rules: bothRules(library.header.rules, rules),
  });
}
