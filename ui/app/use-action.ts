import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { problemOf, type SimProblem } from "../api/call.ts";
import { greetings } from "../feed/socket.ts";

export interface Action {
  /** Why the last change failed; cleared by the next success, and when the sim restarts. */
  readonly problem: SimProblem | undefined;
  /** Waits for a change of the sim, and passes on its response. */
  run<T>(change: Promise<T>, onDone?: (response: T) => void): Promise<void>;
}

/** Changes of the sim by a view. */
export function useAction(): Action {
  const problem = useSignal<SimProblem | undefined>(undefined);
  const turnOfSim = greetings.value;
  useEffect(() => {
    problem.value = undefined;
  }, [turnOfSim]);
  return {
    problem: problem.value,
    async run(change, onDone) {
      try {
        const response = await change;
        problem.value = undefined;
        onDone?.(response);
      } catch (error) {
        problem.value = problemOf(error);
      }
    },
  };
}
