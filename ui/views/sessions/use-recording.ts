import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RecordingPage, StoredSessionDetails } from "../../../src/lab/sessions/shapes.ts";
import { call, problemOf, query, type SimProblem } from "../../api/call.ts";
import type { RecordedWindow } from "./story.ts";

type Part = RecordingPage["parts"][number];
type Missing = RecordingPage["missing"][number];

/** A recording, as far as it is loaded. */
export interface Recording {
  readonly windows: readonly RecordedWindow[];
  readonly missing: readonly Missing[];
  /** Number of loaded parts. */
  readonly parts: number;
  readonly isLoading: boolean;
  /** True if more was recorded than the page loads. */
  readonly isCut: boolean;
  readonly problem: SimProblem | undefined;
  /** Loads the parts that came since. */
  loadMore(): void;
}

/** The most events and pages that are loaded. */
const most = { events: 300_000, pages: 200 } as const;

interface Loaded {
  readonly parts: readonly Part[];
  readonly missing: readonly Missing[];
  readonly isLoading: boolean;
  readonly isCut: boolean;
  readonly problem: SimProblem | undefined;
}

const nothing: Loaded = { parts: [], missing: [], isLoading: false, isCut: false, problem: undefined };

/** The parts as windows, the one that began first at the top; times ascend in each. */
function windowsOf(parts: readonly Part[]): RecordedWindow[] {
  const ids = [...new Set(parts.map((it) => it.window))];
  const windows = ids.map((id): RecordedWindow => {
    const own = parts.filter((it) => it.window === id);
    const events = own.flatMap((it) => it.events).sort((a, b) => a.timestamp - b.timestamp);
    return { id, events, shift: own[0]?.shift_ms ?? 0 };
  });
  return windows
    .filter((it) => it.events.length > 0)
    .sort((a, b) => (a.events[0]?.timestamp ?? 0) - (b.events[0]?.timestamp ?? 0));
}

/** Loads the recording of a session, page by page. */
export function useRecording(session: StoredSessionDetails | undefined): Recording {
  const [loaded, setLoaded] = useState(nothing);
  const [turn, setTurn] = useState(0);
  const count = useRef(0);
  const key = session?.recording ? `${session.project} ${session.id}` : undefined;
  const last = useRef<string>();
  useEffect(() => {
    if (!session || key === undefined) return;
    const aborter = new AbortController();
    const isSame = last.current === key;
    last.current = key;
    if (!isSame) count.current = 0;
    setLoaded((it) => ({ ...(isSame ? it : nothing), isLoading: true }));
    const path = `sessions/${encodeURIComponent(session.id)}/recording`;
    async function load(): Promise<void> {
      let events = 0;
      for (let page = 0; page < most.pages; page++) {
        const at = query({ project: session?.project ?? undefined, from: count.current });
        const it = await call<RecordingPage>("GET", path + at, undefined, aborter.signal);
        if (aborter.signal.aborted) return;
        count.current += it.parts.length;
        events += it.parts.reduce((sum, { events: { length } }) => sum + length, 0);
        const isCut = it.next !== null && (events > most.events || page === most.pages - 1);
        setLoaded((was) => ({
          ...was,
          parts: [...was.parts, ...it.parts],
          missing: [...was.missing, ...it.missing].slice(0, 1_000),
          isLoading: it.next !== null && !isCut,
          isCut,
        }));
        if (it.next === null || isCut) return;
      }
    }
    load().catch((error: unknown) => {
      if (!aborter.signal.aborted) setLoaded((was) => ({ ...was, isLoading: false, problem: problemOf(error) }));
    });
    return () => aborter.abort();
  }, [key, turn]);
  const windows = useMemo(() => (loaded.isLoading ? [] : windowsOf(loaded.parts)), [loaded]);
  return {
    windows,
    missing: loaded.missing,
    parts: loaded.parts.length,
    isLoading: loaded.isLoading,
    isCut: loaded.isCut,
    problem: loaded.problem,
    loadMore: () => setTurn((it) => it + 1),
  };
}
