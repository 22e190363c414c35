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

export interface ResourceOptions {
  /** Asked again when it changes, e.g. a counter of the sim's state. */
  readonly revision?: unknown;
  /** Asked again so often, ms, while the page is seen. */
  readonly every?: number;
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
export function useResource<T>(path: string | null, { revision, every }: ResourceOptions = {}): Resource<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<State<T>>({
    path,
    data: undefined,
    problem: undefined,
    isLoading: path !== null,
  });
  // `revision` and `turn` are not used in it: they say when to ask again
  useEffect(() => {
    if (path === null) return;
    const gone = new AbortController();
    setState((it) =>
      it.path === path
        ? { ...it, isLoading: true }
        : { path, data: undefined, problem: undefined, isLoading: true },
    );
    call<T>("GET", path, undefined, gone.signal).then(
      (data) => {
        if (!gone.signal.aborted) setState({ path, data, problem: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (gone.signal.aborted) return;
        setState((it) => ({ ...it, path, problem: problemOf(error), isLoading: false }));
      },
    );
    return () => gone.abort();
  }, [path, revision, turn]);
  const reload = useCallback(() => setTurn((it) => it + 1), []);
  useEffect(() => {
    if (every === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, every);
    return () => clearInterval(timer);
  }, [every, reload]);
  const current =
    state.path === path ? state : { data: undefined, problem: undefined, isLoading: path !== null };
  return { data: current.data, problem: current.problem, isLoading: current.isLoading, reload };
}
