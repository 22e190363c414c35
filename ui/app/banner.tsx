import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { call, problemOf } from "../api/call.ts";
import { connection, connectNow, lostBecause, stat } from "../feed/socket.ts";
import { Button } from "../parts/basics.tsx";
import { counted, plain } from "../parts/text.ts";
import { link } from "./location.ts";
import { views } from "./views.ts";

/** What must not be missed. */
export function Banner() {
  const edit = stat.value?.scenario_edit ?? null;
  // An edit from before the page was opened is no news.
  const seenEdit = useRef<number | null | undefined>(undefined);
  const read = useSignal(0);
  if (stat.value !== undefined && seenEdit.current === undefined) seenEdit.current = edit?.at ?? null;
  const isNewEdit = edit !== null && edit.at !== seenEdit.current && edit.at !== read.value;
  const now = stat.value;
  const reason = lostBecause.value;
  const faults = now?.faults ?? [];
  const mistakes = now?.scenario_problems ?? 0;
  const damage = now?.damage ?? 0;
  return (
    <div class="shell-banner">
      {connection.value === "lost" && (
        <Line tone="odd" title={reason ?? "The sim does not answer."}>
          <span>What you see is what was there. The page connects again by itself.</span>
          <Button onClick={connectNow}>Try now</Button>
        </Line>
      )}
      {connection.value === "live" && reason !== null && <Line tone="odd" title={reason} />}
      {faults.length > 0 && <Faults names={faults} />}
      {damage > 0 && (
        <Line tone="odd" title={`The data folder is damaged in ${counted(damage, "place")}.`}>
          <span>Everything else in it is intact.</span>
          <Where view="world" path={["scenario"]} text="See where" />
        </Line>
      )}
      {isNewEdit && mistakes === 0 && (
        <Line tone="odd" title="The scenario was edited and is in force.">
          <span>{plain(edit.summary, 300)}</span>
          <Where view="world" path={["scenario"]} text="See what changed" />
          <Button
            onClick={() => {
              read.value = edit.at;
            }}
          >
            Dismiss
          </Button>
        </Line>
      )}
      {mistakes > 0 && (
        <Line tone="odd" title={`The scenario has ${counted(mistakes, "mistake")}.`}>
          <span>The last good one stays in force.</span>
          <Where view="world" path={["scenario"]} text="See where" />
        </Line>
      )}
    </div>
  );
}

function Faults({ names }: { names: readonly string[] }) {
  const problem = useSignal<string | undefined>(undefined);
  const clear = () =>
    call("DELETE", "faults").then(
      () => {
        problem.value = undefined;
      },
      (error: unknown) => {
        problem.value = problemOf(error).message;
      },
    );
  const title =
    names.length === 1
      ? "A fault is in force: answers go wrong on purpose."
      : `${names.length} faults are in force: answers go wrong on purpose.`;
  return (
    <Line tone="bad" title={title}>
      <span>{names.map((it) => plain(it, 60)).join(", ")}</span>
      {problem.value !== undefined && <span>{`They could not be cleared: ${problem.value}`}</span>}
      <Where view="faults" text="See the faults" />
      <Button onClick={clear}>{names.length === 1 ? "Clear it" : "Clear all"}</Button>
    </Line>
  );
}

function Line({
  tone,
  title,
  children,
}: {
  tone: "odd" | "bad";
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class={`shell-line is-${tone}`} role="alert">
      <strong>
        <span aria-hidden="true">{tone === "bad" ? "✕ " : "! "}</span>
        {title}
      </strong>
      {children}
    </div>
  );
}

/** A link to a view, where there is such a view. */
function Where({ view, path = [], text }: { view: string; path?: readonly string[]; text: string }) {
  return views.some(({ id }) => id === view) ? <a href={link(view, path)}>{text}</a> : null;
}
