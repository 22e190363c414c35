import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { stat } from "../feed/socket.ts";
import type { Totals } from "./minute.ts";
import { seenBy, titleOf } from "./title.ts";

/** The totals when the page was last looked at; undefined while somebody looks. */
const seen = signal<Totals | undefined>(undefined);

/** Names the tab: the view, and what came while nobody looked. */
export function useTitle(label: string): void {
  const title = titleOf(label, stat.value, seen.value);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const now = stat.value;
  useEffect(() => {
    if (seen.value && now) seen.value = seenBy(seen.value, now);
  }, [now]);
  useEffect(() => {
    const note = () => {
      seen.value = document.hidden ? stat.value : undefined;
    };
    document.addEventListener("visibilitychange", note);
    return () => document.removeEventListener("visibilitychange", note);
  }, []);
}
