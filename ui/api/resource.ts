import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call, problemOf, type SimProblem } from "./call.ts";

/** A response of the control API, and the state of loading it. */
export interface Resource<T> {
  /** The last response; kept while reloading. */
  readonly data: T | undefined;
  readonly problem: SimProblem | undefined;
  readonly isLoading: boolean;
  reload(): void;
}

export interface ResourceOptions<T> {
  /** Reloaded when this changes, e.g. a counter of the sim's state. */
  readonly revision?: unknown;
  /** Reloaded this long after a response, ms, while the page is visible (default: never). */
  readonly again?: number | ((data: T | undefined) => number | undefined);
}

interface State<T> {
  readonly path: string | null;
  readonly data: T | undefined;
  readonly problem: SimProblem | undefined;
  readonly isLoading: boolean;
}

/** The last defined value: while the next one loads, the old one stays, with its scroll position. */
export function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef<T>();
  if (value) last.current = value;
  return last.current;
}

/** Reads a path of the control API; `null` reads nothing. A new path starts without data. */
export function useResource<T>(path: string | null, { revision, again }: ResourceOptions<T> = {}): Resource<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<State<T>>({ path, data: undefined, problem: undefined, isLoading: path !== null });
  const ask = useRef<() => void>();
  useEffect(() => {
    if (path === null) return;
    const aborter = new AbortController();
    let isAsking = false;
    let isLate = false;
    ask.current = () => {
      // a running call is not aborted for the next one: if changes arrive faster than responses, none would complete
      isLate = isAsking;
      if (isAsking) return;
      isAsking = true;
      setState((it) =>
        it.path === path ? { ...it, isLoading: true } : { path, data: undefined, problem: undefined, isLoading: true },
      );
      const settle = (change: (it: State<T>) => State<T>): void => {
        isAsking = false;
        if (aborter.signal.aborted) return;
        setState(change);
        if (isLate) ask.current?.();
      };
      call<T>("GET", path, undefined, aborter.signal).then(
        (data) => settle(() => ({ path, data, problem: undefined, isLoading: false })),
        (error: unknown) => settle((it) => ({ ...it, path, problem: problemOf(error), isLoading: false })),
      );
    };
    return () => {
      ask.current = undefined;
      aborter.abort();
    };
  }, [path]);
  // `path`, `revision` and `turn` only trigger the reload
  useEffect(() => ask.current?.(), [path, revision, turn]);
  const reload = useCallback(() => setTurn((it) => it + 1), []);
  const current = state.path === path ? state : { data: undefined, problem: undefined, isLoading: path !== null };
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
