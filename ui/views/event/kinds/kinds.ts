import { late } from "../../../app/late-view.tsx";
import type { KindProps } from "../event-facts.ts";

/** The first tab of some events: what they show. Its code is loaded with the first such event. */
interface KindView {
  /** Title of the tab, one word if possible. */
  readonly title: string;
  readonly names: readonly string[];
  readonly View: ReturnType<typeof late<KindProps>>;
}

const rows: readonly KindView[] = [
  {
    title: "Exception",
    names: ["$exception"],
    View: late(async () => (await import("./exception.tsx")).Exception),
  },
  {
    title: "Vitals",
    names: ["$web_vitals"],
    View: late(async () => (await import("./vitals.tsx")).Vitals),
  },
];

/** The view of an event's kind; undefined: its properties say it all. */
export const kindViewOf = (name: string): KindView | undefined => rows.find((it) => it.names.includes(name));
