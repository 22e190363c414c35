import { useEffect, useState } from "preact/hooks";
import { addressStep } from "../../src/kernel/base/text.ts";
import type { FlagExplanation as Explanation } from "../../src/service/flags/shapes.ts";
import { call, problemOf, type SimProblem } from "./call.ts";

interface ExplanationResult {
  readonly explanation?: Explanation;
  readonly problem?: SimProblem;
}

/** Explains a flag's value for a subject, again when `revision` changes; `undefined` explains nothing. */
export function useExplanation(key: string, subject: object | undefined, revision: unknown): ExplanationResult {
  const body = subject === undefined ? undefined : JSON.stringify(subject);
  const [result, setResult] = useState<ExplanationResult>({});
  useEffect(() => {
    if (body === undefined) {
      setResult({});
      return;
    }
    const gone = new AbortController();
    const path = `flags/${addressStep(key)}/explain`;
    call<Explanation>("POST", path, JSON.parse(body), gone.signal).then(
      (explanation) => setResult({ explanation }),
      (error: unknown) => {
        if (!gone.signal.aborted) setResult({ problem: problemOf(error) });
      },
    );
    return () => gone.abort();
  }, [key, body, revision]);
  return result;
}
