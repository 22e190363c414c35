import type { SentAnswer, Write } from "./answer-reply.ts";
import type { ScriptedAnswers } from "./answers.ts";
import type { CallFacts } from "./call-facts.ts";
import type { FaultRules, Taken } from "./rules.ts";

/** The faults as the request core asks for them. `owner` finds a call's project; it runs only for rules about a project. */
export const faultPort = <C extends Omit<CallFacts, "family" | "project">, F extends string>(
  faults: FaultRules,
  closing: AbortSignal,
  owner: (call: C, family: F) => number | null,
) => ({
  closing,
  get active() {
    return faults.active;
  },
  take(call: C, family: F): Taken | undefined {
    const { method, path, headers } = call;
    return faults.take({ method, path, headers, family, project: () => owner(call, family) });
  },
});

/** An answer on its way out. */
interface Outgoing {
  status: number;
  headers: string[];
  body: string | Buffer | null;
}

const name = "a scripted answer";

/** The scripted answer instead of the handler's, which ran. */
const instead =
  (write: Write, requestId: string | undefined, text: () => string | undefined) =>
  <R extends Outgoing>(reply: R): R => ({ ...reply, ...write({ text, requestId }) });

/** The decision about a call, as the request core's `CallFault` says it. */
interface Decided {
  readonly source: "script";
  readonly name: string;
  readonly delay: 0;
  readonly answer?: SentAnswer;
  readonly change?: ReturnType<typeof instead>;
}

/** Finds a call's project and the text of its body. */
interface Reading<C, F> {
  owner(call: C, family: F): number | null;
  text(call: C, family: F): string | undefined;
}

/** The scripted answers as the request core asks for them. `reading` runs only where an answer depends on it. */
export const answerPort = <C extends Omit<CallFacts, "family" | "project">, F extends string>(
  answers: ScriptedAnswers,
  reading: Reading<C, F>,
) => ({
  get active() {
    return answers.active;
  },
  take(call: C, family: F): Decided | undefined {
    const { method, path, headers } = call;
    const taken = answers.take({
      method,
      path,
      headers,
      family,
      project: () => reading.owner(call, family),
    });
    if (taken === undefined) return undefined;
    const decided = { source: "script", name, delay: 0 } as const;
    const requestId = headers["posthog-request-id"];
    const text = () => reading.text(call, family);
    if (taken.keep) return { ...decided, change: instead(taken.write, requestId, text) };
    return { ...decided, answer: taken.write({ text, requestId }) };
  },
});
