import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { SimProblem } from "../api/call.ts";
import { greetings } from "../feed/socket.ts";

/** What the sim did not take, if anything: of the past once the sim is there again. */
export function useProblem(): Signal<SimProblem | undefined> {
  const problem = useSignal<SimProblem | undefined>(undefined);
  const turnOfSim = greetings.value;
  useEffect(() => {
    problem.value = undefined;
  }, [turnOfSim]);
  return problem;
}
