import { numberText } from "../text.ts";
import { changeText, type Plot, type Series } from "./picture.ts";

/** Series that are drawn; the table has all. */
const mostSeries = 8;
const colours = 4;
/** More labels than this have no tooltips. */
const mostSlots = 400;
const [width, height] = [1000, 120] as const;

/** Round steps between lines of the axis, to a power of ten. */
const roundSteps = [1, 2, 2.5, 5, 10] as const;

/** The values at the lines of the axis, from low to high; 0 is one of them. */
export function ticksOf(low: number, high: number): number[] {
  const span = Math.max(high, 0) - Math.min(low, 0);
  if (!(span > 0) || !Number.isFinite(span)) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(span / 2));
  const step = (roundSteps.find((it) => it * power >= span / 2) ?? 10) * power;
  const [from, to] = [Math.floor(Math.min(low, 0) / step), Math.ceil(Math.max(high, 0) / step)];
  return Array.from({ length: to - from + 1 }, (_, i) => (from + i) * step);
}

/** Bounds of each value of a series: from 0, or on top of the series before it on the same side of 0. */
type Bounds = readonly (readonly [from: number, to: number] | undefined)[];

export function boundsOf({ series, isStacked }: Pick<Plot, "series" | "isStacked">): Bounds[] {
  const above: number[] = [];
  const below: number[] = [];
  return series.map(({ values, isBefore }) =>
    values.map((value, i) => {
      if (value === null) return undefined;
      if (!isStacked || isBefore) return [0, value];
      const side = value < 0 ? below : above;
      const from = side[i] ?? 0;
      side[i] = from + value;
      return [from, from + value];
    }),
  );
}

/** `s1` to `s4`, then the same colours in another style. */
const seriesClass = ({ isBefore }: Series, index: number): string =>
  isBefore ? "insight-before" : `insight-s${(index % colours) + 1}${index >= colours ? " insight-second" : ""}`;

interface Scale {
  x(index: number): number;
  y(value: number): number;
}

const fixed = (value: number): string => value.toFixed(1);

/** A path through the values from one index to another, interrupted where there is none. */
function linePath(bounds: Bounds, { x, y }: Scale, from: number, to: number): string {
  let path = "";
  for (let i = from, isBegun = false; i <= to; i++) {
    const it = bounds[i];
    if (it) path += `${isBegun ? "L" : "M"}${fixed(x(i))} ${fixed(y(it[1]))}`;
    // a value between two gaps is a dot
    if (it && !isBegun && !bounds[i + 1]) path += "h0";
    isBegun = it !== undefined;
  }
  return path;
}

function areaPath(bounds: Bounds, { x, y }: Scale): string {
  const known = bounds.flatMap((it, i) => (it ? [[i, it] as const] : []));
  const top = known.map(([i, [, to]]) => `${fixed(x(i))} ${fixed(y(to))}`);
  const bottom = known.map(([i, [from]]) => `${fixed(x(i))} ${fixed(y(from))}`).reverse();
  return known.length === 0 ? "" : `M${[...top, ...bottom].join("L")}Z`;
}

interface MarksProps {
  plot: Plot;
  bounds: readonly Bounds[];
  scale: Scale;
}

/** Lines, dashed where the period is not over. */
function Lines({ plot: { series, marks, unfinishedFrom, labels }, bounds, scale }: MarksProps) {
  const last = labels.length - 1;
  return (
    <>
      {series.map((it, i) => {
        const of = bounds[i] ?? [];
        const name = seriesClass(it, i);
        const isDone = it.isBefore || unfinishedFrom > last;
        return (
          <g key={i} class={name}>
            {marks === "area" && !it.isBefore && <path class="insight-area" d={areaPath(of, scale)} />}
            <path class="insight-line" d={linePath(of, scale, 0, isDone ? last : unfinishedFrom - 1)} />
            {!isDone && (
              <path
                class="insight-line insight-unfinished"
                d={linePath(of, scale, Math.max(0, unfinishedFrom - 1), last)}
              />
            )}
          </g>
        );
      })}
    </>
  );
}

/** Share of its slot that a bar, or a group of bars, fills. */
const filled = 0.72;

function Bars({ plot: { series, isStacked, unfinishedFrom, labels }, bounds, scale: { y } }: MarksProps) {
  const slot = width / Math.max(1, labels.length);
  const groups = isStacked ? (series.some((it) => it.isBefore) ? 2 : 1) : series.length;
  const wide = (slot * filled) / groups;
  const place = (it: Series, i: number) => (isStacked ? (it.isBefore ? 0 : groups - 1) : i);
  return (
    <>
      {series.map((it, i) => (
        <g key={i} class={seriesClass(it, i)}>
          {[false, true].map((isOpen) => {
            const path = (bounds[i] ?? []).map((bound, at) => {
              if (!bound || (!it.isBefore && at >= unfinishedFrom) !== isOpen || bound[0] === bound[1]) return "";
              const x = slot * at + (slot * (1 - filled)) / 2 + wide * place(it, i);
              const [top, bottom] = [y(Math.max(...bound)), y(Math.min(...bound))];
              return `M${fixed(x)} ${fixed(top)}h${fixed(wide)}V${fixed(bottom)}h${fixed(-wide)}z`;
            });
            return (
              <path
                key={String(isOpen)}
                class={`insight-bar${isOpen ? " insight-unfinished" : ""}`}
                d={path.join("")}
              />
            );
          })}
        </g>
      ))}
    </>
  );
}

/** Characters of all labels below the plot, and the most labels: they fit a narrow page. */
const room = { characters: 40, labels: 6 };

/** Indexes of the labels that are written, evenly spaced from the first one. */
export function labelled(labels: readonly { readonly short: string }[]): number[] {
  const longest = Math.max(1, ...labels.map((it) => it.short.length));
  const most = Math.max(2, Math.min(room.labels, Math.floor(room.characters / longest)));
  const step = Math.max(1, Math.ceil(labels.length / most));
  return Array.from({ length: Math.ceil(labels.length / step) }, (_, i) => i * step);
}

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** Values over time, or over another axis: lines, areas or bars. */
export function PlotPicture({ plot: given, title }: { plot: Plot; title: string }) {
  const plot = { ...given, series: given.series.slice(0, mostSeries) };
  const { labels, marks, format, unfinishedFrom } = plot;
  const bounds = boundsOf(plot);
  const ends = bounds.flatMap((it) => it.flatMap((one) => one ?? []));
  const ticks = ticksOf(Math.min(0, ...ends), Math.max(0, ...ends));
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)];
  const isBar = marks === "bar";
  const count = labels.length;
  const scale: Scale = {
    x: (i) => (isBar ? ((i + 0.5) / count) * width : count < 2 ? width / 2 : (i / (count - 1)) * width),
    y: (value) => height - ((value - low) / (high - low)) * height,
  };
  const axisText = (value: number) => (format(1000) === "1,000" ? compact.format(value) : format(value));
  return (
    <>
      <div class="insight-plot">
        <div class="insight-y" aria-hidden="true">
          {ticks.toReversed().map((it) => (
            <span key={it}>{axisText(it)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summaryOf(title, plot)}
        >
          <path class="insight-grid" d={ticks.map((it) => `M0 ${fixed(scale.y(it))}h${width}`).join("")} />
          {isBar ? <Bars {...{ plot, bounds, scale }} /> : <Lines {...{ plot, bounds, scale }} />}
          {count <= mostSlots && <Slots plot={plot} scale={scale} />}
        </svg>
        <div class="insight-x" aria-hidden="true">
          {labelled(labels).map((i) => (
            <span
              key={i}
              class={!isBar && i > 0 && i === count - 1 ? "insight-x-last" : undefined}
              style={{ insetInlineStart: `${(scale.x(i) / width) * 100}%` }}
            >
              {labels[i]?.short}
            </span>
          ))}
        </div>
      </div>
      <Legend plot={given} hasUnfinished={unfinishedFrom < count} />
    </>
  );
}

/** Areas with a tooltip, one for each label. */
function Slots({ plot: { labels, series, format, unfinishedFrom }, scale }: Pick<MarksProps, "plot" | "scale">) {
  const slot = width / Math.max(1, labels.length);
  return (
    <>
      {labels.map(({ whole }, i) => (
        <rect key={i} class="insight-slot" x={fixed(scale.x(i) - slot / 2)} y="0" width={fixed(slot)} height={height}>
          <title>
            {[
              whole + (i >= unfinishedFrom ? " (not over)" : ""),
              ...series.map(({ name, values }) => {
                const value = values[i];
                return `${name}: ${value === null || value === undefined ? "–" : format(value)}`;
              }),
            ].join("\n")}
          </title>
        </rect>
      ))}
    </>
  );
}

/** The plot in a sentence, for screen readers. */
function summaryOf(title: string, { labels, series, format }: Plot): string {
  const over = labels.length === 0 ? "" : `, ${labels[0]?.whole} to ${labels.at(-1)?.whole}`;
  const parts = series.map(({ name, values, total }) => {
    const known = values.filter((it) => it !== null);
    if (known.length === 0) return `${name}: no values`;
    const range = `from ${format(Math.min(...known))} to ${format(Math.max(...known))}`;
    return `${name} ${range}${total === undefined ? "" : `, in all ${format(total)}`}`;
  });
  return `${title}${over}: ${parts.join("; ")}`;
}

function Legend({ plot: { series, format }, hasUnfinished }: { plot: Plot; hasUnfinished: boolean }) {
  const left = series.length - mostSeries;
  const [first, second] = series;
  const change =
    series.length === 2 && first && second?.isBefore ? changeText(first.total ?? null, second.total) : undefined;
  return (
    <ul class="insight-legend">
      {series.slice(0, mostSeries).map((it, i) => (
        <li key={i} class={`insight-key ${seriesClass(it, i)}`}>
          {it.total !== undefined && <b>{format(it.total)}</b>} {it.name}
        </li>
      ))}
      {change !== undefined && <li>{change}</li>}
      {left > 0 && <li>{`${numberText(left)} more in the table`}</li>}
      {hasUnfinished && <li class="insight-dashed">dashed: not over yet</li>}
    </ul>
  );
}
