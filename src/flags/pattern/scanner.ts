/** Reads a pattern from the front, character by character (code points). */
export interface Scanner {
  readonly isAtEnd: boolean;
  /** Takes the next character; undefined at the end. */
  next(): string | undefined;
  /** Takes the text if it comes next. */
  skip(text: string): boolean;
  /** Takes what a sticky expression finds here. */
  take(expression: RegExp): RegExpExecArray | null;
}

export function createScanner(source: string): Scanner {
  let at = 0;
  return {
    get isAtEnd() {
      return at >= source.length;
    },
    next() {
      const code = source.codePointAt(at);
      if (code === undefined) return undefined;
      const character = String.fromCodePoint(code);
      at += character.length;
      return character;
    },
    skip(text) {
      if (!source.startsWith(text, at)) return false;
      at += text.length;
      return true;
    },
    take(expression) {
      expression.lastIndex = at;
      const found = expression.exec(source);
      if (found) at += found[0].length;
      return found;
    },
  };
}
