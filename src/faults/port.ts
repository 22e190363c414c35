import type { Note } from "../model/traffic.ts";
import type { Faults, Taken } from "./faults.ts";

/** What is read of a call; the request core's `Call` has it. */
interface Sent {
  readonly method: string;
  readonly path: string;
}

/** A call's fault, with what the journal is to know of a call that no handler sees. */
type Decided = Omit<Taken, "answer"> & { answer?: NonNullable<Taken["answer"]> & { note: Note } };

/**
 * The faults as the request core asks for them. `read` finds out whose call it is and what its body says; it is
 * asked only when a rule is about a project, or when no handler will read the call.
 */
export const faultPort = <C extends Sent, F extends string>(
  faults: Faults,
  closing: AbortSignal,
  read: (call: C, family: F) => Note,
) => ({
  closing,
  get active() {
    return faults.active;
  },
  take(call: C, family: F): Decided | undefined {
    let note: Note | undefined;
    const seen = () => {
      note ??= read(call, family);
      return note;
    };
    const { method, path } = call;
    const taken = faults.take({ method, path, family, project: () => seen().project ?? null });
    if (taken === undefined) return undefined;
    const { answer, ...rest } = taken;
    return answer === undefined ? rest : { ...rest, answer: { ...answer, note: seen() } };
  },
});
