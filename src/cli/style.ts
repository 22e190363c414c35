/** Emphasis for people; both are the identity where emphasis is not wanted. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
}

export const plain: Style = { bold: (text) => text, dim: (text) => text };
const emphatic: Style = {
  bold: (text) => `\u001b[1m${text}\u001b[22m`,
  dim: (text) => `\u001b[2m${text}\u001b[22m`,
};

const off = ["0", "false"];

/**
 * FORCE_COLOR decides when set; then NO_COLOR, TERM=dumb and CI say no; then only a terminal gets
 * emphasis.
 */
export function wantsStyle(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if (env.FORCE_COLOR !== undefined) return !off.includes(env.FORCE_COLOR);
  if (env.NO_COLOR || env.TERM === "dumb") return false;
  if (env.CI && !off.includes(env.CI)) return false;
  return isTerminal;
}

export const styleFor = (env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): Style =>
  wantsStyle(env, isTerminal) ? emphatic : plain;
