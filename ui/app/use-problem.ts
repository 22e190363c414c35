import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { SimProblem } from "../api/call.ts";
import { greetings } from "../feed/socket.ts";

/** The last refusal by the sim; cleared when the sim restarts. */
export function useProblem(): Signal<SimProblem | undefined> {
  const problem = useSignal<SimProblem | undefined>(undefined);
  const turnOfSim = greetings.value;
  useEffect(() => {
    problem.value = undefined;
  }, [turnOfSim]);
  return problem;
}
