import type { ComponentChildren } from "preact";
import type { FrameSource } from "../../../../src/lab/exceptions/shapes.ts";
import type { ExceptionFrame, SourceLine } from "../../../../src/state/journal/exception.ts";
import { query } from "../../../api/call.ts";
import { useResource } from "../../../api/resource.ts";
import { Scrolled, Time } from "../../../parts/basics.tsx";
import { plain } from "../../../parts/text.ts";
import { ShownText } from "../../../parts/tree/tree-row.tsx";

/** Tabs would be shown as `\t`. */
const Code = ({ text }: { text: string }) => <ShownText text={text.replaceAll("\t", "  ")} />;

/** The line of the call, with the name at its column underlined. */
function HitText({ text, column }: { text: string; column: number | null }) {
  const at = column === null || column < 1 || column > text.length ? undefined : column - 1;
  const word = at === undefined ? undefined : /^(?:[^\w$\s]{0,4}[\w$]+|\S)/.exec(text.slice(at))?.[0];
  if (at === undefined || word === undefined) return <Code text={text} />;
  return (
    <>
      <Code text={text.slice(0, at)} />
      <u>
        <Code text={word} />
      </u>
      <Code text={text.slice(at + word.length)} />
    </>
  );
}

function Lines({ lines, column, label }: { lines: readonly SourceLine[]; column: number | null; label: string }) {
  return (
    <Scrolled class="exception-source mono" label={label}>
      {lines.map(({ n, text, isHit }, i) => (
        <div key={i} class={isHit ? "exception-hit" : undefined}>
          <i>{n ?? ""}</i>
          <span>{isHit ? <HitText text={text} column={column} /> : <Code text={text} />}</span>
        </div>
      ))}
    </Scrolled>
  );
}

function Origin({ source }: { source: FrameSource }) {
  const { path, line, map, modified_at, changed, note } = source;
  const state =
    changed === null
      ? "it was changed at"
      : changed
        ? "the file has changed since the event, at"
        : "the file has not changed since";
  return (
    <p class="small muted exception-origin">
      Source read from disk: <span class="mono">{plain(`${path}:${line}`, 200)}</span>
      {map !== null && (
        <>
          {" "}
          through <span class="mono">{plain(map, 200)}</span>
        </>
      )}
      ; {state} {modified_at !== null && <Time at={modified_at} isWhole />}.
      {note !== null && ` Note: ${plain(note, 300)}.`}
    </p>
  );
}

const Quiet = ({ children }: { children: ComponentChildren }) => <p class="small muted exception-origin">{children}</p>;

/** A file of a build: the app's own lines are found through its source map. */
const isScript = ({ file }: ExceptionFrame): boolean => /\.[cm]?js(?:[?#]|$)/i.test(file);

/** True if the lines on disk say more than those that were sent, and are those that ran. */
const isBetter = ({ why, map, changed }: FrameSource): boolean => why === null && map !== null && changed !== true;

/** The lines on this machine's disk, or those that the SDK sent. */
export function FrameLines({ seq, cause, frame }: FrameLinesProps) {
  const { line, place, context, column } = frame;
  const isSent = context.length > 0;
  const path =
    line === null || (isSent && !isScript(frame)) ? null : `events/${seq}/source${query({ cause, frame: place })}`;
  const { data: source, problem } = useResource<FrameSource>(path);
  if (isSent && !(source && isBetter(source)))
    return (
      <>
        <Lines label={`Source around line ${line ?? ""}`} lines={context} column={column} />
        <Quiet>Source as the SDK sent it.</Quiet>
      </>
    );
  if (path === null) return <Quiet>The frame has no line.</Quiet>;
  if (problem) return <Quiet>No source: {plain(problem.message)}</Quiet>;
  if (!source) return <Quiet>Reading the source</Quiet>;
  if (source.why !== null) return <Quiet>No source: {plain(source.why)}.</Quiet>;
  return (
    <>
      <Lines
        label={`Source around line ${source.line}`}
        column={source.column}
        lines={source.lines.map((it) => ({ ...it, isHit: it.n === source.line }))}
      />
      <Origin source={source} />
    </>
  );
}

interface FrameLinesProps {
  seq: number;
  /** Index of the cause, as sent. */
  cause: number;
  frame: ExceptionFrame;
}
