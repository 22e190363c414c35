import { partitionOf } from "../model/answer.ts";
import type { Note } from "../model/traffic.ts";
import type { SentAnswer, Write } from "./answer.ts";
import type { Answers } from "./answers.ts";

/** What is read of a call; the request core's `Call` has it. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** An answer on its way out, with what the journal knows of the call. */
interface Outgoing {
  status: number;
  headers: string[];
  body: string | Buffer | null;
  note?: unknown;
}

const name = "a scripted answer";

/**
 * The scripted answer in the place of the handler's; the journal still learns what the handler found out.
 * `read` is asked for the body when the handler has not looked at it.
 */
const instead =
  (write: Write, requestId: string | undefined, read: () => Note) =>
  <R extends Outgoing>(reply: R): R => {
    const text = () => (reply.note as Note | undefined)?.text ?? read().text;
    return { ...reply, ...write({ text, requestId }) };
  };

/** What is to become of a call, as the request core's `CallFault` says it. */
interface Decided {
  readonly source: "script";
  readonly name: string;
  readonly delay: 0;
  readonly answer?: SentAnswer & { note: Note };
  readonly change?: ReturnType<typeof instead>;
}

/**
 * The scripted answers as the request core asks for them. `read` finds out whose call it is and what its body
 * says; it is asked only while answers wait for a project, or when no handler will read the call.
 */
export const answerPort = <C extends Sent, F extends string>(
  answers: Answers,
  read: (call: C, family: F) => Note,
) => ({
  get active() {
    return answers.active;
  },
  take(call: C, family: F): Decided | undefined {
    let note: Note | undefined;
    const seen = () => {
      note ??= read(call, family);
      return note;
    };
    const { method, path, headers } = call;
    const taken = answers.take({
      method,
      path,
      family,
      partition: partitionOf(headers),
      project: () => seen().project ?? null,
    });
    if (taken === undefined) return undefined;
    const decided = { source: "script", name, delay: 0 } as const;
    const requestId = headers["posthog-request-id"];
    if (taken.keep) return { ...decided, change: instead(taken.write, requestId, seen) };
    const answer = taken.write({ text: () => seen().text, requestId });
    return { ...decided, answer: { ...answer, note: seen() } };
  },
});
