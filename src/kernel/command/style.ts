/** Emphasis for people; each is the identity where emphasis is not wanted. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
}

const same = (text: string): string => text;
const between = (open: number, close: number) => (text: string) => `\u001b[${open}m${text}\u001b[${close}m`;

export const plain: Style = { bold: same, dim: same, good: same, bad: same };
const emphatic: Style = { bold: between(1, 22), dim: between(2, 22), good: between(32, 39), bad: between(31, 39) };

const off = ["0", "false"];

/** FORCE_COLOR decides if set; else NO_COLOR, TERM=dumb and CI turn emphasis off; else a terminal turns it on. */
export function wantsStyle(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if (env.FORCE_COLOR !== undefined) return !off.includes(env.FORCE_COLOR);
  if (env.NO_COLOR || env.TERM === "dumb") return false;
  if (env.CI && !off.includes(env.CI)) return false;
  return isTerminal;
}

export const styleFor = (env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): Style =>
  wantsStyle(env, isTerminal) ? emphatic : plain;
