import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { call } from "../api/call.ts";
import { connection, connectNow, lostBecause, stat } from "../feed/socket.ts";
import { Button } from "../parts/basics.tsx";
import { counted, plain } from "../parts/text.ts";
import { link } from "./location.ts";
import { useAction } from "./use-action.ts";
import { views } from "./views.ts";

/** Banners: lost connection, active faults, damaged data, scenario edits. */
export function Banner() {
  const edit = stat.value?.scenario_edit ?? null;
  // edits made before the page was opened are not announced
  const seenEdit = useRef<number | null | undefined>();
  const [read, setRead] = useState(0);
  if (stat.value !== undefined && seenEdit.current === undefined) seenEdit.current = edit?.at ?? null;
  const isNewEdit = edit !== null && edit.at !== seenEdit.current && edit.at !== read;
  const now = stat.value;
  const reason = lostBecause.value;
  const faults = now?.faults ?? [];
  const mistakes = now?.scenario_problems ?? 0;
  const damage = now?.damage ?? 0;
  return (
    <div class="shell-banner">
      {connection.value === "lost" && (
        <Line tone="odd" title={reason ?? "The sim does not respond."}>
          <span>The data shown may be outdated. The page reconnects automatically.</span>
          <Button onClick={connectNow}>Try now</Button>
        </Line>
      )}
      {connection.value === "live" && reason !== null && <Line tone="odd" title={reason} />}
      {faults.length > 0 && <Faults names={faults} />}
      {damage > 0 && (
        <Line tone="odd" title={`The data folder has ${counted(damage, "problem")}.`}>
          <span>Files are damaged, or another program changed them.</span>
          <Where view="world" path={["scenario"]} text="See where" />
        </Line>
      )}
      {isNewEdit && mistakes === 0 && (
        <Line tone="odd" title="The edited scenario was applied.">
          <span>{plain(edit.summary, 300)}</span>
          <Where view="world" path={["scenario"]} text="See what changed" />
          <Button onClick={() => setRead(edit.at)}>Dismiss</Button>
        </Line>
      )}
      {mistakes > 0 && (
        <Line tone="odd" title={`The scenario has ${counted(mistakes, "mistake")}.`}>
          <span>The last valid version stays active.</span>
          <Where view="world" path={["scenario"]} text="See where" />
        </Line>
      )}
    </div>
  );
}

function Faults({ names }: { names: readonly string[] }) {
  const { problem, run } = useAction();
  const title =
    names.length === 1
      ? "A fault is active: responses fail on purpose."
      : `${names.length} faults are active: responses fail on purpose.`;
  return (
    <Line tone="bad" title={title}>
      <span>{names.map((it) => plain(it, 60)).join(", ")}</span>
      {problem && <span>{`They could not be cleared: ${problem.message}`}</span>}
      <Where view="faults" text="See the faults" />
      <Button onClick={() => run(call("DELETE", "faults"))}>{names.length === 1 ? "Clear it" : "Clear all"}</Button>
    </Line>
  );
}

function Line({ tone, title, children }: LineProps) {
  return (
    <div class={`row shell-line is-${tone}`} role="alert">
      <strong>
        <span aria-hidden="true">{tone === "bad" ? "✕ " : "! "}</span>
        {title}
      </strong>
      {children}
    </div>
  );
}

interface LineProps {
  tone: "odd" | "bad";
  title: string;
  children?: ComponentChildren;
}

function Where({ view, path = [], text }: { view: string; path?: readonly string[]; text: string }) {
  return views.some(({ id }) => id === view) ? <a href={link(view, path)}>{text}</a> : null;
}
