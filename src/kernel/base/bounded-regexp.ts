import { createContext, Script } from "node:vm";
import { performance } from "./real-time.ts";

/** Steps that a search without a time limit may take in the worst case; about 0.1 s. */
const mostWays = 10_000_000;
/** Limit of other searches, ms; and what long texts have in addition, ms for each 1,000 characters. */
const timeLimit = { least: 100, more: 1 };

/** A regular expression from outside, which may take exponentially long. */
export interface BoundedExpression {
  readonly source: string;
  readonly flags: string;
  test(text: string): boolean;
  readonly gaveUp: boolean;
}

/** Searches without a time limit if that is certain to end soon; else in a script with one. */
export function bounded(expression: RegExp): BoundedExpression {
  const isQuick = quickness(expression.source);
  let gaveUp = false;
  return {
    source: expression.source,
    flags: expression.flags,
    test(subject) {
      if (isQuick(subject.length)) return expression.test(subject);
      if (gaveUp) return false;
      const answer = inTime("expression.test(subject)", expression, subject, 2 ** recentlyStopped());
      if (answer === undefined) {
        gaveUp = true;
        stopped.push(performance.now());
      }
      return answer === true;
    },
    get gaveUp() {
      return gaveUp;
    },
  };
}

/** When searches of several expressions took too long: a request may have many of them, so each of the next ones gets half the time. */
let stopped: number[] = [];
/** Time after which such a search does not count, ms; halvings at most. */
const recent = { ms: 10_000, most: 6 };

function recentlyStopped(): number {
  stopped = stopped.filter((at) => at > performance.now() - recent.ms);
  return Math.min(stopped.length, recent.most);
}

/** Most time that searches of one expression may waste, ms. */
const mostWasted = 1_000;

/** Replaces what a global expression finds; undefined if the search took too long, or others have, and this one may as well. */
export function boundedReplace(
  expression: RegExp,
): (subject: string, replace: (found: string) => string) => string | undefined {
  const isQuick = quickness(expression.source);
  let wasted = 0;
  return (subject, replace) => {
    if (isQuick(subject.length)) return subject.replace(expression, (found) => replace(found));
    if (wasted >= mostWasted) return undefined;
    const begin = performance.now();
    const spans = inTime(
      "Array.from(subject.matchAll(expression), (it) => [it.index, it[0].length])",
      expression,
      subject,
    );
    if (!isSpans(spans)) {
      wasted += performance.now() - begin;
      return undefined;
    }
    let out = "";
    let done = 0;
    for (const [at, length] of spans) {
      out += subject.slice(done, at) + replace(subject.slice(at, at + length));
      done = at + length;
    }
    return out + subject.slice(done);
  };
}

const isSpans = (value: unknown): value is [at: number, length: number][] => Array.isArray(value);

/** A rough upper bound: each quantifier multiplies the steps by the subject's length; repeated groups may be exponential. */
function quickness(source: string): (length: number) => boolean {
  if (/\)[*+{]/.test(source)) return (length) => length <= 12;
  const variable = source.match(/[*+?{]/g)?.length ?? 0;
  return (length) => (length + 1) ** (variable + 1) <= mostWays;
}

type World = { expression?: RegExp | undefined; subject?: string | undefined };
let world: World | undefined;
const scripts = new Map<string, Script>();

/** The result of a script over an expression and a text; undefined if it takes too long. Node can stop a search only by stopping a script. */
function inTime(code: string, expression: RegExp, subject: string, share = 1): unknown {
  world ??= createContext({});
  const script = scripts.get(code) ?? new Script(code);
  scripts.set(code, script);
  Object.assign(world, { expression, subject });
  try {
    return script.runInContext(world, {
      timeout: Math.ceil((timeLimit.least + (timeLimit.more * subject.length) / 1_000) / share),
    });
  } catch {
    return undefined;
  } finally {
    Object.assign(world, { expression: undefined, subject: undefined });
  }
}
