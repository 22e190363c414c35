import { useEffect, useState } from "preact/hooks";
import { call, problemOf, type SimProblem } from "../../api/call.ts";
import type { Explanation } from "./answers.ts";

/** What came of asking why. */
export interface Asked {
  readonly told?: Explanation;
  readonly problem?: SimProblem;
}

/** Asks why somebody gets a flag's value; again when the world changes. `undefined` asks nothing. */
export function useExplanation(key: string, subject: object | undefined, revision: unknown): Asked {
  const body = subject === undefined ? undefined : JSON.stringify(subject);
  const [asked, setAsked] = useState<Asked>({});
  useEffect(() => {
    if (body === undefined) {
      setAsked({});
      return;
    }
    const gone = new AbortController();
    const path = `flags/${encodeURIComponent(key)}/explain`;
    call<Explanation>("POST", path, JSON.parse(body), gone.signal).then(
      (told) => setAsked({ told }),
      (error: unknown) => {
        if (!gone.signal.aborted) setAsked({ problem: problemOf(error) });
      },
    );
    return () => gone.abort();
  }, [key, body, revision]);
  return asked;
}
