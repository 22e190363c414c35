import type { Call } from "../../kernel/http/call.ts";
import { deciding, type Layer } from "../../kernel/http/layer.ts";
import type { Reply } from "../../kernel/http/reply.ts";
import type { ScriptedAnswers } from "./answers.ts";
import type { FaultRules } from "./rules.ts";

/** Finds a call's project and the text of its body; runs only where a rule or an answer depends on it. */
interface Reading {
  owner(call: Call): number | null;
  text(call: Call): string | undefined;
}

const mark = (reply: Reply): Reply => ({ ...reply, scripted: true });

const rejection = { reason: "script", detail: "a scripted answer was given; the request was not handled" };

/** Gives the scripted answers, in place of the row's or after it ran. */
export const scriptLayer = (answers: ScriptedAnswers, reading: Reading): Layer =>
  deciding({
    get active() {
      return answers.active;
    },
    take(call) {
      const { method, path, headers, family } = call;
      const project = () => reading.owner(call);
      const taken = answers.take({ method, path, headers, family, project });
      if (taken === undefined) return undefined;
      const { write, keep } = taken;
      const asked = { text: () => reading.text(call), requestId: headers["posthog-request-id"] };
      if (keep) return { delay: 0, change: (reply) => mark({ ...reply, ...write(asked) }) };
      return { delay: 0, answer: write(asked), change: mark, rejection };
    },
  });

/** Applies the faults to calls that have no scripted answer. */
export const faultLayer = (faults: FaultRules, { owner }: Pick<Reading, "owner">): Layer =>
  deciding({
    get active() {
      return faults.active;
    },
    take(call) {
      if (call.fault !== undefined) return undefined;
      const { method, path, headers, family } = call;
      const taken = faults.take({ method, path, headers, family, project: () => owner(call) });
      if (taken === undefined) return undefined;
      const { name, change, ...effect } = taken;
      const detail = `the fault ${name} is in force; the request was not handled`;
      return {
        ...effect,
        ...(effect.answer && { rejection: { reason: "fault", detail } }),
        change: (reply) => ({ ...(change?.(reply) ?? reply), fault: name }),
      };
    },
  });
