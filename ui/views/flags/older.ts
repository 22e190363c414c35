import { useState } from "preact/hooks";
import { call, problemOf, query, type SimProblem } from "../../api/call.ts";
import type { Decisions, Flag } from "./answers.ts";

interface Older extends Decisions {
  readonly problem?: SimProblem;
  load(): void;
}

/** Decisions from before the newest, read on demand. */
export function useOlder(flag: Flag, newest: Decisions | undefined): Older {
  const [read, setRead] = useState<Decisions & { problem?: SimProblem }>();
  const { decisions = [], problem } = read ?? {};
  const before = read ? read.before : (newest?.before ?? null);
  const load = () => {
    const path = `flag-decisions${query({ project: flag.project, key: flag.key, before: before ?? undefined })}`;
    call<Decisions>("GET", path).then(
      (more) => setRead({ decisions: [...decisions, ...more.decisions], before: more.before }),
      (error: unknown) => setRead({ decisions, before, problem: problemOf(error) }),
    );
  };
  return { decisions, before, load, ...(problem && { problem }) };
}
