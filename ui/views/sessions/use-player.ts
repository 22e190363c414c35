import type { Ref } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PlayerCommand, PlayerNotice } from "./player/protocol.ts";
import type { RecordedWindow } from "./story.ts";

interface PlayerState {
  /** ms from the start of the session. */
  readonly at: number;
  readonly isPlaying: boolean;
  readonly speed: number;
  readonly skipsIdle: boolean;
  /** True once the recorded page is drawn. */
  readonly isLoaded: boolean;
  readonly size: { readonly width: number; readonly height: number; readonly scale: number } | undefined;
  /** Number of pictures and styles that stay unloaded. */
  readonly unloaded: number;
  readonly failure: string | undefined;
}

export interface Player extends PlayerState {
  readonly frame: Ref<HTMLIFrameElement>;
  seek(at: number): void;
  toggle(): void;
  set(options: { readonly speed?: number; readonly skipsIdle?: boolean }): void;
}

const fresh: PlayerState = {
  at: 0,
  isPlaying: false,
  speed: 1,
  skipsIdle: true,
  isLoaded: false,
  size: undefined,
  unloaded: 0,
  failure: undefined,
};

/**
 * Controls the frame that plays a window of a recording.
 * @param origin Start of the session, ms since 1970; the frame counts from the window's first event
 * @param from Where to begin, ms from the start of the session
 */
export function usePlayer(shown: RecordedWindow | undefined, origin: number, length: number, from: number): Player {
  const [state, setState] = useState<PlayerState>({ ...fresh, at: from });
  const latest = useRef(state);
  latest.current = state;
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const first = shown?.events[0];
  const lead = first && shown ? first.timestamp + shown.shift - origin : 0;
  const change = (it: Partial<PlayerState>) => setState((was) => ({ ...was, ...it }));

  const post = (command: PlayerCommand): void => frame.current?.contentWindow?.postMessage(command, location.origin);

  useEffect(() => {
    const take = (notice: PlayerNotice): void => {
      if (notice.type === "ready") setReady(true);
      else if (notice.type === "loaded")
        change({ isLoaded: true, unloaded: notice.unloaded, failure: undefined, isPlaying: false });
      else if (notice.type === "time" && latest.current.isPlaying) change({ at: notice.at + lead });
      else if (notice.type === "finished") change({ isPlaying: false });
      else if (notice.type === "size") change({ size: notice });
      else if (notice.type === "failed") change({ failure: notice.text });
    };
    const listen = ({ source, origin: sender, data }: MessageEvent) => {
      if (source === frame.current?.contentWindow && sender === location.origin) take(data as PlayerNotice);
    };
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, [lead]);

  useEffect(() => {
    if (!isReady || !shown) return;
    const { speed, skipsIdle, at } = latest.current;
    post({ type: "set", speed, skipsIdle });
    post({ type: "load", events: shown.events, at: at - lead });
  }, [isReady, shown, lead]);

  const within = (at: number): number => Math.max(0, Math.min(length, at));
  return useMemo(
    () => ({
      ...state,
      frame,
      seek(to: number) {
        const at = within(to);
        change({ at });
        post({ type: latest.current.isPlaying ? "play" : "pause", at: at - lead });
      },
      toggle() {
        const { isPlaying, isLoaded, at } = latest.current;
        if (!isLoaded) return;
        // at the end, it begins again
        const next = !isPlaying && at >= length - 200 ? 0 : at;
        change({ isPlaying: !isPlaying, at: next });
        post({ type: isPlaying ? "pause" : "play", at: next - lead });
      },
      set(options) {
        const { speed, skipsIdle } = { ...latest.current, ...options };
        change({ speed, skipsIdle });
        post({ type: "set", speed, skipsIdle });
      },
    }),
    [state, lead, length],
  );
}
