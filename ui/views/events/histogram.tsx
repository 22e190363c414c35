import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Histogram as Bars } from "../../../src/state/journal/histogram-answer.ts";
import type { EventOutcome } from "../../../src/state/journal/outcomes.ts";
import type { EventTotals } from "../../../src/state/journal/totals-answer.ts";
import { query } from "../../api/call.ts";
import { useLast } from "../../api/resource.ts";
import { link, project } from "../../app/location.ts";
import { figureText, useCounted } from "../../app/sim.ts";
import { Button } from "../../parts/basics.tsx";
import { hasTerm, toggled } from "../../parts/filter-box/filter-text.ts";
import { Icon } from "../../parts/icon.tsx";
import { useWidth } from "../../parts/layout.tsx";
import { clockText, counted, dateText, numberText } from "../../parts/text.ts";
import {
  axisOf,
  edgeAt,
  edgesBetween,
  movedEdges,
  type Plot,
  plotOf,
  type Span,
  spanIn,
  timeAt,
  withoutSpan,
  withSpan,
} from "./brush.ts";

interface HistogramProps {
  filter: string;
  /** Totals of the filter, and without a filter. */
  totals: EventTotals | undefined;
  all: EventTotals | undefined;
  onFilter(text: string): void;
}

const outcomes: readonly (readonly [of: EventOutcome, title: string])[] = [
  ["kept", "Only events that were kept without warnings"],
  ["warned", "Only kept events with warnings"],
  ["dropped", "Only dropped events"],
];

const outcomeTerms = outcomes.map(([of]) => `is:${of}`);

const spanText = ({ from, to }: Span): string => {
  const isOneDay = dateText(from).slice(0, 10) === dateText(to).slice(0, 10);
  const isLong = to - from >= 60_000;
  const text = (at: number) => (isLong ? clockText(at).slice(0, 8) : clockText(at));
  return isOneDay ? `${text(from)} – ${text(to)}` : `${dateText(from)} – ${dateText(to)}`;
};

/** Events over time, by outcome, with a range that can be selected; counted by the sim. */
export function Histogram({ filter, totals, all, onFilter }: HistogramProps) {
  const rest = withoutSpan(filter);
  const { data } = useCounted<Bars>(
    `feed/histogram${query({ filter: rest, project: project.value })}`,
    (it) => it.counting,
  );
  const bars = useLast(data);
  const span = spanIn(filter);
  return (
    <section class="events-histogram" aria-label="Events over time">
      <Head {...{ filter, totals, all, span, onFilter }} />
      {bars && bars.kept.length > 0 && (
        <PlotArea bars={bars} span={span} onSpan={(it) => onFilter(it === undefined ? rest : withSpan(filter, it))} />
      )}
    </section>
  );
}

interface HeadProps extends HistogramProps {
  span: Span | undefined;
}

function Head({ filter, totals, all, span, onFilter }: HeadProps) {
  if (!totals) return <div class="events-histogram-head" />;
  const figures = { kept: totals.kept - totals.warned, warned: totals.warned, dropped: totals.dropped };
  return (
    <div class="events-histogram-head">
      <span class="events-total">
        <b>{figureText(totals.total, totals.complete)}</b> {totals.total === 1 ? "event" : "events"}
      </span>
      {filter !== "" && all && <span class="events-of">{`of ${figureText(all.total, all.complete)}`}</span>}
      {outcomes.map(([of, title]) => (
        <Button
          key={of}
          kind="quiet"
          class={`events-key events-key-${of}`}
          title={title}
          isPressed={hasTerm(filter, `is:${of}`)}
          onClick={() => onFilter(toggled(filter, `is:${of}`, outcomeTerms))}
        >
          {`${numberText(figures[of])} ${of}`}
        </Button>
      ))}
      {span && (
        <Button
          kind="quiet"
          class="events-span"
          aria-label={`Remove the range ${spanText(span)}`}
          title="Remove the range"
          onClick={() => onFilter(withoutSpan(filter))}
        >
          {spanText(span)}
          <Icon of="close" />
        </Button>
      )}
      <a class="button button-quiet events-insight" href={link("dashboards", ["new"], { f: filter })}>
        <Icon of="chart" />
        Make an insight
      </a>
    </div>
  );
}

const height = 60;
/** Least height of a bar. */
const least = 2;

/** One path for each outcome; kept is at the bottom. */
function pathsOf({ kept, warned, dropped }: Bars, { lead }: Plot, most: number) {
  const paths = { kept: "", warned: "", dropped: "" };
  for (let i = 0; i < kept.length; i++) {
    let y = height;
    for (const [of, values] of [
      ["kept", kept],
      ["warned", warned],
      ["dropped", dropped],
    ] as const) {
      const value = values[i] ?? 0;
      if (value === 0) continue;
      const tall = Math.max(least, (value / most) * (height - 3 * least));
      y -= tall;
      paths[of] += `M${lead + i + 0.1} ${y.toFixed(1)}h.8v${tall.toFixed(1)}h-.8z`;
    }
  }
  return paths;
}

interface PlotProps {
  bars: Bars;
  span: Span | undefined;
  onSpan(span: Span | undefined): void;
}

/** A drag shorter than this does not select, px. */
const shortest = 4;
/** From the last key press until the range is applied, ms. */
const pause = 300;

/** A time of the axis: its width, and with the space to the next one, px. */
const label = { width: 88, room: 104 } as const;

function PlotArea({ bars, span, onSpan }: PlotProps) {
  const plot = plotOf(bars);
  const axis = useRef<HTMLDivElement>(null);
  const width = useWidth(axis);
  const most = Math.max(1, ...bars.kept.map((it, i) => it + (bars.warned[i] ?? 0) + (bars.dropped[i] ?? 0)));
  /** The range while it is changed, as edges of buckets. */
  const draft = useSignal<readonly [from: number, to: number] | undefined>(undefined);
  const start = useRef<{ share: number; x: number }>();
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(timer.current), []);
  const edges =
    draft.value ?? (span && ([edgeAt(plot, span.from), edgeAt(plot, span.to)] as readonly [number, number]));
  const apply = () => {
    clearTimeout(timer.current);
    const [from, to] = draft.value ?? [];
    draft.value = undefined;
    if (from !== undefined && to !== undefined) onSpan({ from: timeAt(plot, from), to: timeAt(plot, to) });
  };
  const shareOf = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return (event.clientX - left) / Math.max(1, width);
  };
  const press = (event: KeyboardEvent, which: "from" | "to") => {
    if (event.key === "Escape" && edges) {
      clearTimeout(timer.current);
      draft.value = undefined;
      onSpan(undefined);
    } else {
      const moved = movedEdges(edges ?? [0, plot.count], which, event.key, plot.count);
      if (!moved || event.ctrlKey || event.metaKey || event.altKey) return;
      draft.value = moved;
      clearTimeout(timer.current);
      timer.current = setTimeout(apply, pause);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const paths = pathsOf(bars, plot, most);
  const percent = (edge: number) => `${((edge / plot.count) * 100).toFixed(3)}%`;
  const [from, to] = edges ?? [0, plot.count];
  const summary = `Events from ${dateText(plot.from)} to ${dateText(plot.to)}, at most ${counted(most, "event")} in a bar`;
  const handle = (which: "from" | "to") => (
    <span
      class={`events-handle events-handle-${which}`}
      role="slider"
      tabIndex={0}
      aria-label={which === "from" ? "Start of the range" : "End of the range"}
      aria-valuemin={0}
      aria-valuemax={plot.count}
      aria-valuenow={which === "from" ? from : to}
      aria-valuetext={dateText(timeAt(plot, which === "from" ? from : to))}
      onKeyDown={(event) => press(event, which)}
    />
  );
  return (
    <>
      <div
        class="events-plot"
        title="Drag to select a range of time"
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          start.current = { share: shareOf(event), x: event.clientX };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          const begun = start.current;
          if (!begun || (draft.value === undefined && Math.abs(event.clientX - begun.x) < shortest)) return;
          draft.value = edgesBetween(plot, begun.share, shareOf(event));
        }}
        onPointerUp={() => {
          start.current = undefined;
          if (draft.value) apply();
        }}
        onPointerCancel={() => {
          start.current = undefined;
          draft.value = undefined;
        }}
      >
        <svg viewBox={`0 0 ${plot.count} ${height}`} preserveAspectRatio="none" role="img" aria-label={summary}>
          {outcomes.map(([of]) => (
            <path key={of} class={`events-bar-${of}`} d={paths[of]} />
          ))}
        </svg>
        <span class="events-most">{numberText(most)}</span>
        <div
          class={edges ? "events-brush" : "events-brush events-brush-none"}
          style={{ insetInlineStart: percent(from), inlineSize: percent(to - from) }}
        >
          {handle("from")}
          {handle("to")}
        </div>
      </div>
      <div class="events-axis" aria-hidden="true" ref={axis}>
        {axisOf(plot, Math.max(2, Math.floor(width / label.room))).map(({ at, share, text }) => (
          <span key={at} style={{ insetInlineStart: `${(share * 100).toFixed(2)}%` }}>
            {(1 - share) * width > label.width && text}
          </span>
        ))}
      </div>
    </>
  );
}
