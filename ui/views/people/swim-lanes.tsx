import type { ComponentChildren } from "preact";
import type { FlagInForce } from "../../../src/lab/journeys/shapes.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import {
  type Axis,
  type Bar,
  flagBars,
  idBars,
  isLost,
  labelsOf,
  momentText,
  type Placed,
  pageBars,
  xOf,
} from "./journey-layout.ts";

export const px = (n: number): string => `${n.toFixed(1)}px`;

/** Lanes of marks, below the two with bars. */
export const markLanes: readonly {
  id: Placed["lane"];
  title: string;
  icon: IconName;
  hasLabels?: true;
  has(it: Placed): boolean;
}[] = [
  { id: "click", title: "Clicks", icon: "click", has: (it) => it.lane === "click" },
  { id: "own", title: "Own events", icon: "event", hasLabels: true, has: (it) => it.lane === "own" },
  { id: "other", title: "SDK events", icon: "events", has: (it) => it.lane === "other" },
];
export const lastLanes: typeof markLanes = [
  { id: "request", title: "Requests", icon: "requests", has: (it) => it.lane === "request" },
  { id: "problem", title: "Problems", icon: "exception", hasLabels: true, has: (it) => it.lane === "problem" },
];

interface LaneProps {
  title: string;
  count?: string;
  icon?: IconName;
  /** What the lane shows, in words. */
  text: string;
  lane?: Placed["lane"];
  class?: string;
  children: ComponentChildren;
}

export function Lane({ title, count, icon, text, lane, class: name, children }: LaneProps) {
  return (
    <div class="swim-lane" data-lane={lane}>
      <p class="swim-head">
        {icon && <Icon of={icon} />}
        <span>
          <b>{title}</b>
          {count !== undefined && <small>{count}</small>}
        </span>
      </p>
      <div class={name === undefined ? "swim-track" : `swim-track ${name}`} role="img" aria-label={text}>
        {children}
      </div>
    </div>
  );
}

interface AxisProps {
  axis: Axis;
  moments: readonly Placed[];
}

/** The first of many, in words. */
const listed = (texts: readonly string[]): string =>
  texts.length > 12 ? `${texts.slice(0, 12).join(", ")} and ${texts.length - 12} more` : texts.join(", ");

/** Below this width, px, a bar has no place for a name; the tooltip has it. */
const leastName = 20;

const BarPart = ({ bar, kind }: { bar: Bar; kind: string }) => (
  <span
    class={`lane-bar swim-bar ${kind}`}
    style={{ insetInlineStart: px(bar.x), inlineSize: px(bar.width) }}
    title={plain(bar.text, 200)}
  >
    {bar.width >= leastName && <span class="swim-name">{plain(bar.text, 80)}</span>}
  </span>
);

export function IdentityLane({ axis, moments }: AxisProps) {
  const bars = idBars(axis, moments);
  const ids = [...new Set(bars.map((it) => it.text))];
  const last = bars.at(-1)?.text;
  const steps = moments.filter((it) => it.lane === "identity");
  return (
    <Lane
      title="Identity"
      icon="identify"
      lane="identity"
      count={counted(ids.length, "id")}
      text={`Distinct ids in use: ${listed(ids.map((it) => plain(it, 60)))}`}
    >
      {bars.map((it) => (
        <BarPart key={it.id} bar={it} kind={it.text === last ? "swim-id" : "swim-id-before"} />
      ))}
      {steps.map((it) => (
        <Mark key={it.id} it={it} axis={axis} />
      ))}
    </Lane>
  );
}

export function PageLane({ axis, moments }: AxisProps) {
  const pages = moments.filter((it) => it.lane === "page" && it.name !== "$pageleave");
  const bars = pageBars(axis, pages);
  return (
    <Lane
      title="Pages"
      icon="page"
      lane="page"
      count={counted(pages.length, "view")}
      text={`${counted(pages.length, "page view")}: ${listed(bars.map((it) => plain(it.text, 60)))}`}
    >
      {bars.map((it) => (
        <BarPart key={it.id} bar={it} kind="swim-page" />
      ))}
    </Lane>
  );
}

const markClass = (it: Placed): string => {
  if (it.outcome === "rejected") return "swim-rejected";
  if (it.lane === "request") return it.outcome === "dropped" ? "swim-request swim-lost" : "swim-request";
  if (it.lane === "problem") return it.name === "$web_vitals" ? "lane-warned" : "lane-error";
  if (it.outcome === "dropped") return "lane-error";
  return it.lane === "own" ? "lane-own" : `swim-${it.lane}`;
};

const Mark = ({ it, axis }: { it: Placed; axis: Axis }) => (
  <i class={`lane-mark ${markClass(it)}`} style={{ insetInlineStart: px(xOf(axis, it.ms)) }} title={momentText(it)} />
);

/** Colour of a name: as its mark. */
const labelTone = (it: Placed): string => {
  if (isLost(it)) return `outcome-${it.outcome}`;
  if (it.lane !== "problem") return "";
  return it.name === "$web_vitals" ? "outcome-warned" : "outcome-dropped";
};

export function MarkLane({ lane, axis, moments }: AxisProps & { lane: (typeof markLanes)[number] }) {
  const mine = moments.filter(lane.has);
  if (mine.length === 0 && lane.id === "other") return null;
  const lost = mine.filter(isLost);
  const named = lane.id === "request" ? mine.filter((it) => it.outcome === "rejected") : lane.hasLabels ? mine : [];
  const nameText = (it: Placed): string => {
    if (lane.id === "request") return `${it.status} ${plain(it.name.replace(/^\S+ /, ""), 40)}`;
    return lane.id === "problem" ? momentText(it) : plain(it.name, 60);
  };
  const labels = labelsOf(axis, named, nameText, labelTone);
  const lostText =
    lost.length > 0 ? `, ${lost.length} ${lane.id === "request" ? "rejected or with losses" : "lost"}` : "";
  return (
    <Lane
      title={lane.title}
      icon={lane.icon}
      lane={lane.id}
      count={`${numberText(mine.length)}${lostText}`}
      text={`${lane.title}, ${numberText(mine.length)}${lostText}: ${listed(mine.map(momentText))}`}
      {...(labels.length > 0 && { class: "swim-labelled" })}
    >
      {mine.map((it) => (
        <Mark key={it.id} it={it} axis={axis} />
      ))}
      {labels.map((it) => (
        <span key={it.id} class={`swim-label swim-row-${it.row} ${it.tone}`} style={{ insetInlineStart: px(it.x) }}>
          {it.text}
        </span>
      ))}
    </Lane>
  );
}

const flagRow = 24;
const mostFlagRows = 40;

export function FlagLane({ axis, moments, flags }: AxisProps & { flags: readonly FlagInForce[] }) {
  const range = [moments[0]?.ms ?? 0, moments.at(-1)?.ms ?? 0] as const;
  const uses = moments.filter((it) => it.lane === "flag");
  const rows = flags
    .map(({ key, ...rest }) => ({ key, bars: flagBars(axis, { key, ...rest }, range) }))
    .filter((it) => it.bars.length > 0)
    .slice(0, mostFlagRows);
  const text = rows.map(
    ({ key, bars }) => `${plain(key, 60)} ${bars.map((it) => plain(String(it.span.value), 40)).join(", then ")}`,
  );
  if (rows.length === 0 && uses.length === 0) return null;
  return (
    <Lane
      title="Flags"
      icon="flags"
      lane="flag"
      count={`${rows.length} in force${uses.length > 0 ? `, ${counted(uses.length, "use")}` : ""}`}
      text={`Flag values in force: ${listed(text)}`}
    >
      <div style={{ blockSize: px(rows.length * flagRow + (uses.length > 0 ? 22 : 8)) }} />
      {rows.map(({ key, bars }, row) =>
        bars.map((it, i) => (
          <span
            key={`${key} ${it.id} ${i}`}
            class={it.span.value === false ? "swim-flag swim-flag-off" : "swim-flag"}
            style={{ insetInlineStart: px(it.x), inlineSize: px(it.width), insetBlockStart: px(5 + row * flagRow) }}
            title={plain(`${key} = ${it.text}`, 300)}
          >
            {it.width >= leastName && <span class="swim-name">{plain(`${key} = ${it.text}`, 120)}</span>}
          </span>
        )),
      )}
      {uses.map((it) => (
        <Mark key={it.id} it={it} axis={axis} />
      ))}
    </Lane>
  );
}
