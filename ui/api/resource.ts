import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call, problemOf, type SimProblem } from "./call.ts";

/** What is known of something that the control API tells. */
export interface Resource<T> {
  /** What was told last; stays while it is asked again. */
  readonly data: T | undefined;
  readonly problem: SimProblem | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

export interface ResourceOptions<T> {
  /** Asked again when it changes, e.g. a counter of the sim's state. */
  readonly revision?: unknown;
  /** Asked again so long after an answer, ms, while the page is seen; undefined: not until something changes. */
  readonly again?: number | ((data: T | undefined) => number | undefined);
}

interface State<T> {
  readonly path: string | null;
  readonly data: T | undefined;
  readonly problem: SimProblem | undefined;
  readonly isLoading: boolean;
}

/** The last value that was known, while the next one is asked for: it stays, and where it was scrolled to. */
export function useLast<T>(told: T | undefined): T | undefined {
  const last = useRef<T>();
  if (told) last.current = told;
  return last.current;
}

/** Reads something of the control API; `null` asks nothing. Of another path, nothing is known at first. */
export function useResource<T>(
  path: string | null,
  { revision, again }: ResourceOptions<T> = {},
): Resource<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<State<T>>({
    path,
    data: undefined,
    problem: undefined,
    isLoading: path !== null,
  });
  const ask = useRef<() => void>();
  useEffect(() => {
    if (path === null) return;
    const gone = new AbortController();
    let isAsking = false;
    let isLate = false;
    ask.current = () => {
      // A call is not given up for the next one: where changes come faster than answers, there would be none.
      isLate = isAsking;
      if (isAsking) return;
      isAsking = true;
      setState((it) =>
        it.path === path
          ? { ...it, isLoading: true }
          : { path, data: undefined, problem: undefined, isLoading: true },
      );
      const told = (change: (it: State<T>) => State<T>): void => {
        isAsking = false;
        if (gone.signal.aborted) return;
        setState(change);
        if (isLate) ask.current?.();
      };
      call<T>("GET", path, undefined, gone.signal).then(
        (data) => told(() => ({ path, data, problem: undefined, isLoading: false })),
        (error: unknown) => told((it) => ({ ...it, path, problem: problemOf(error), isLoading: false })),
      );
    };
    return () => {
      ask.current = undefined;
      gone.abort();
    };
  }, [path]);
  // `path`, `revision` and `turn` are not used in it: they say when to ask again
  useEffect(() => ask.current?.(), [path, revision, turn]);
  const reload = useCallback(() => setTurn((it) => it + 1), []);
  const current =
    state.path === path ? state : { data: undefined, problem: undefined, isLoading: path !== null };
  const { data, isLoading } = current;
  const pause = typeof again === "function" ? again(data) : again;
  useEffect(() => {
    if (pause === undefined || isLoading) return;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, pause);
    return () => clearInterval(timer);
  }, [pause, isLoading, reload]);
  return { data, problem: current.problem, isLoading, reload };
}
