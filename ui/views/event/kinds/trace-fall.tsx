import { useState } from "preact/hooks";
import { quoted } from "../../../../src/state/journal/filter/print.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";
import { query } from "../../../api/call.ts";
import { useLast, useResource } from "../../../api/resource.ts";
import { Button, Trouble } from "../../../parts/basics.tsx";
import { EventIcon } from "../../../parts/event-icon.tsx";
import { counted, numberText, plain } from "../../../parts/text.ts";
import { Named } from "../event-parts.tsx";
import { eventHref } from "../neighbours.ts";
import { costText, secondsText } from "./ai-texts.ts";
import { barOf, numberIn, type Trace, type TraceRow, traceIdOf, traceOf } from "./trace.ts";

const names = "$ai_generation,$ai_span,$ai_embedding,$ai_trace,$ai_metric,$ai_feedback";

/** Events of a trace that are loaded. */
const mostEvents = 500;

interface Page {
  readonly events: readonly StoredEvent[];
  readonly more: boolean;
}

const pathOf = ({ project }: StoredEvent, traceId: string): string =>
  `events${query({
    project: project ?? undefined,
    filter: `is:kept event:${names} prop.$ai_trace_id:${quoted(traceId)}`,
    limit: mostEvents,
  })}`;

/** The trace of an event, folded around the event. */
export function TraceOfEvent({ event }: { event: StoredEvent }) {
  const traceId = traceIdOf(event);
  const used = useResource<Page>(traceId === undefined ? null : pathOf(event, traceId));
  const page = useLast(used.data);
  if (traceId === undefined)
    return (
      <p class="muted">
        The event has no <code>$ai_trace_id</code>, so it belongs to no trace.
      </p>
    );
  if (used.problem) return <Trouble problem={used.problem} />;
  if (!page) return <p class="muted">Loading the trace</p>;
  const trace = traceOf(page.events, traceId);
  return (
    <section class="stack">
      <header class="row row-wide">
        <h3 class="cut">
          Trace <Named text={trace?.name ?? traceId} otherwise="" />
        </h3>
        {trace && <TotalsOf trace={trace} />}
      </header>
      {trace ? (
        <Fall trace={trace} seq={event.seq} onReload={used.reload} />
      ) : (
        <p class="muted">No kept event of this trace is a step with a place in time.</p>
      )}
      {page.more && <p class="muted">{`The trace has more events: the first ${mostEvents} are shown.`}</p>}
      <Judgements events={page.events} seq={event.seq} />
    </section>
  );
}

function TotalsOf({ trace }: { trace: Trace }) {
  const { rows, latency, inputTokens, outputTokens, cost } = trace;
  const parts = [
    counted(rows.length, "step"),
    secondsText(latency),
    inputTokens + outputTokens > 0 && `${numberText(inputTokens)} → ${numberText(outputTokens)} tokens`,
    cost !== undefined && costText(cost),
  ];
  return <span class="muted small number">{parts.filter((it) => it !== false).join(" · ")}</span>;
}

const [around, deepest] = [6, 12];

function Fall({ trace, seq, onReload }: { trace: Trace; seq: number; onReload(): void }) {
  const { rows, start, end } = trace;
  const [isWhole, setWhole] = useState(false);
  const at = Math.max(
    0,
    rows.findIndex((it) => it.step.seq === seq),
  );
  const isLong = rows.length > 2 * around;
  const from = isWhole || !isLong ? 0 : Math.max(0, Math.min(at - around, rows.length - 2 * around));
  const shown = isWhole || !isLong ? rows : rows.slice(from, from + 2 * around);
  return (
    <>
      <ol class="fall" aria-label="Steps of the trace">
        {shown.map((row) => (
          <FallRow key={row.step.seq} row={row} trace={trace} isCurrent={row.step.seq === seq} />
        ))}
        <li aria-hidden="true" class="fall-scale muted number">
          <span />
          <span>
            <span>0</span>
            <span>{secondsText((end - start) / 2_000)}</span>
            <span>{secondsText((end - start) / 1_000)}</span>
          </span>
          <span />
        </li>
      </ol>
      <p class="row">
        {isLong && (
          <Button isPressed={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Fold the trace" : `All ${counted(rows.length, "step")}`}
          </Button>
        )}
        <Button kind="quiet" onClick={onReload}>
          Reload the trace
        </Button>
      </p>
    </>
  );
}

const fillOf = ({ step }: TraceRow): string =>
  step.isError ? "fall-error" : step.event === "$ai_generation" || step.event === "$ai_embedding" ? "fall-model" : "";

function FallRow({ row, trace, isCurrent }: { row: TraceRow; trace: Trace; isCurrent: boolean }) {
  const { step, depth, note } = row;
  const { from, size } = barOf(step, trace);
  return (
    <li aria-current={isCurrent ? "true" : undefined}>
      <a
        class="fall-name"
        href={eventHref(step.seq)}
        style={{ paddingInlineStart: `${Math.min(depth, deepest) * 0.9}rem` }}
        title={plain(step.name, 300)}
      >
        <EventIcon name={step.event} />
        <span class="cut">
          <Named text={step.name} otherwise="(no name)" />
        </span>
        {step.isError && <span class="fall-word">error</span>}
      </a>
      <span class="fall-bar" aria-hidden="true">
        <i class={fillOf(row)} style={{ insetInlineStart: `${from}%`, inlineSize: `${size}%` }} />
      </span>
      <span class="number muted">{step.latency === undefined ? "–" : secondsText(step.latency)}</span>
      {note !== undefined && <span class="fall-note small">{plain(note, 200)}</span>}
    </li>
  );
}

/** Metrics and feedback about the trace. */
function Judgements({ events, seq }: { events: readonly StoredEvent[]; seq: number }) {
  const found = events.filter((it) => (it.event === "$ai_metric" || it.event === "$ai_feedback") && it.seq !== seq);
  if (found.length === 0) return null;
  return (
    <ul class="stack stack-tight small" aria-label="Metrics and feedback">
      {found.slice(0, 20).map((it) => (
        <li key={it.seq}>
          <a href={eventHref(it.seq)}>{it.event === "$ai_metric" ? "Metric" : "Feedback"}</a> <Judgement event={it} />
        </li>
      ))}
    </ul>
  );
}

export function Judgement({ event: { properties } }: { event: StoredEvent }) {
  const { $ai_metric_name: name, $ai_metric_value: value, $ai_feedback_text: feedback } = properties;
  if (typeof feedback === "string") return <Named text={feedback} otherwise="(empty)" />;
  const number = numberIn(properties, "$ai_metric_value");
  return (
    <>
      <Named text={typeof name === "string" ? name : ""} otherwise="(no name)" />:{" "}
      <b>
        <Named
          text={
            number === undefined
              ? String(typeof value === "object" ? JSON.stringify(value) : (value ?? ""))
              : numberText(number)
          }
          otherwise="(no value)"
        />
      </b>
    </>
  );
}
