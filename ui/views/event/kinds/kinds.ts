import { type EventKind, eventKind } from "../../../../src/state/journal/event-kinds.ts";
import { late } from "../../../app/late-view.tsx";
import type { KindProps } from "../event-facts.ts";

/** The first tab of some events: what they show. Its code is loaded with the first such event. */
interface KindView {
  /** Title of the tab, one word if possible. */
  readonly title: string;
  /** The events: by their names, or all of a kind. */
  readonly of: { readonly names: readonly string[] } | { readonly kind: EventKind };
  readonly View: ReturnType<typeof late<KindProps>>;
}

const ai = late<KindProps>(async () => (await import("./ai.tsx")).AiEvent);

const rows: readonly KindView[] = [
  { title: "Conversation", of: { names: ["$ai_generation"] }, View: ai },
  { title: "Trace", of: { names: ["$ai_trace", "$ai_span"] }, View: ai },
  { title: "Embedding", of: { names: ["$ai_embedding"] }, View: ai },
  { title: "Judgement", of: { names: ["$ai_metric", "$ai_feedback"] }, View: ai },
  {
    title: "Exception",
    of: { names: ["$exception"] },
    View: late(async () => (await import("./exception.tsx")).Exception),
  },
  { title: "Vitals", of: { kind: "vitals" }, View: late(async () => (await import("./vitals.tsx")).Vitals) },
  { title: "Element", of: { kind: "click" }, View: late(async () => (await import("./element.tsx")).ElementView) },
  {
    title: "Page",
    of: { names: ["$pageview", "$pageleave"] },
    View: late(async () => (await import("./page.tsx")).PageView),
  },
  { title: "Screen", of: { names: ["$screen"] }, View: late(async () => (await import("./page.tsx")).PageView) },
  { title: "What changed", of: { kind: "person" }, View: late(async () => (await import("./changes.tsx")).PersonDiff) },
  { title: "What changed", of: { kind: "group" }, View: late(async () => (await import("./changes.tsx")).GroupDiff) },
  { title: "Answers", of: { kind: "survey" }, View: late(async () => (await import("./survey.tsx")).SurveyView) },
  {
    title: "Decision",
    of: { names: ["$feature_flag_called"] },
    // its trace is drawn as in the Flags view
    View: late(async () => (await import("./flag-called.tsx")).FlagCalled, "flags"),
  },
  { title: "Heatmap", of: { kind: "heatmap" }, View: late(async () => (await import("./heatmap.tsx")).Heatmap) },
  {
    title: "Recording",
    of: { kind: "recording" },
    View: late(async () => (await import("./recording.tsx")).RecordingPart),
  },
];

/** The view of an event's kind; undefined: its properties say it all. */
export const kindViewOf = (name: string): KindView | undefined =>
  rows.find(({ of }) => ("names" in of ? of.names.includes(name) : of.kind === eventKind(name)));
