import { lintCodes } from "./codes.ts";
import type { LintFinding, LintRequest, Remark, Remarks } from "./types.ts";

/** Findings of a project that are told apart; what comes beyond them is not kept. */
const mostFindings = 500;

interface Held extends LintFinding {
  subject: string;
}

/** What was found in one project. */
export interface Findings {
  /** Takes remarks about a request. */
  about(request: Pick<LintRequest, "n" | "project">): Remarks;
  /** In the order of their first times. */
  list(): LintFinding[];
}

const keyOf = ({ code, event, subject }: Remark): string => JSON.stringify([code, event, subject]);

function counted(held: Held, { seq }: Remark, n: number): void {
  held.count++;
  held.n = n;
  held.last_seq = seq ?? held.last_seq;
}

function newFinding({ code, event, subject, detail, seq }: Remark, project: number, n: number): Held {
  const row = { ...lintCodes[code] };
  return { code, ...row, project, event, subject, detail, first_seq: seq, last_seq: seq, count: 1, n };
}

const shown = ({ subject: _, ...finding }: Held): LintFinding => finding;

export function createFindings(): Findings {
  const found = new Map<string, Held>();
  return {
    about: ({ n, project }) => ({
      tell(remark) {
        const key = keyOf(remark);
        const held = found.get(key);
        if (held) counted(held, remark, n);
        else if (found.size < mostFindings) found.set(key, newFinding(remark, project, n));
      },
      withdraw(code, subject) {
        for (const [key, held] of found) {
          if (held.code === code && held.subject === subject) found.delete(key);
        }
      },
    }),
    list: () => [...found.values()].map(shown),
  };
}
