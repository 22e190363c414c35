import type { Json } from "./json.ts";

/** Most objects and lists of a text that is parsed: a small one can hold millions, and each takes memory and time. */
export const mostNodes = 1_000_000;
const mostNodesAtOnce = 100_000;
/** A text up to this size is parsed at once, in a few milliseconds, whatever is in it. */
export const smallText = 512 * 1024;

export interface NodeRoom {
  left: number;
}

export class TooManyNodes extends SyntaxError {
  constructor(most: number) {
    super(`more than ${most.toLocaleString("en")} objects and lists`);
    this.name = "TooManyNodes";
  }
}

export class TooManyLevels extends SyntaxError {
  constructor() {
    super("recursion limit exceeded");
    this.name = "TooManyLevels";
  }
}

export const code = {
  quote: 0x22,
  comma: 0x2c,
  backslash: 0x5c,
  open: 0x5b,
  close: 0x5d,
  brace: 0x7b,
  end: 0x7d,
} as const;

/** The place of the quote that ends the string at `start`; the text's length if there is none. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === code.backslash) slashes++;
    if (slashes % 2 === 0) return at;
  }
}

/** JSON.parse for texts that come from outside. @throws SyntaxError; TooManyNodes */
export function parseBounded(text: string): Json {
  if (text.length > smallText) {
    let nodes = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === code.quote) at = endOfString(text, at);
      else if ((char === code.open || char === code.brace) && ++nodes > mostNodesAtOnce)
        throw new TooManyNodes(mostNodesAtOnce);
    }
  }
  return JSON.parse(text);
}
