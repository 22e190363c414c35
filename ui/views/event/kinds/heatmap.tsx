import { counted, numberText } from "../../../parts/text.ts";
import type { KindProps } from "../event-facts.ts";
import { Named } from "../event-parts.tsx";
import { type HeatPage, type HeatPoint, heatPages, type PointType, typeCounts } from "./heat-points.ts";
import { NotShown } from "./value-list.tsx";

const words: Readonly<Record<PointType, string>> = {
  click: "clicks",
  rageclick: "repeated clicks",
  mousemove: "stops of the pointer",
  scroll: "scrolls",
  deadclick: "clicks without effect",
  other: "other",
};

/** The first tab of `$$heatmap`: where the pointer was, by page. */
export function Heatmap({ event }: KindProps) {
  const found = heatPages(event.properties);
  if (found === undefined) return <p class="muted">The event has no $heatmap_data that can be drawn.</p>;
  return (
    <div class="stack stack-loose">
      {found.pages.length === 0 && <p class="muted">$heatmap_data is empty.</p>}
      {found.pages.map((it) => (
        <Page key={it.url} page={it} />
      ))}
      <NotShown left={found.left} noun="page" />
    </div>
  );
}

function Page({ page }: { page: HeatPage }) {
  const { url, points, broken, left, width, height } = page;
  return (
    <section class="stack">
      <h3 class="first-url mono">
        <Named text={url} otherwise="(no address)" />
      </h3>
      <ul class="row row-wide small">
        {typeCounts(points).map(({ type, count }) => (
          <li key={type} class="muted">
            <svg class="first-heat-key" viewBox="0 0 8 8" aria-hidden="true">
              <circle cx={4} cy={4} r={3} class={`first-heat-${type}`} />
            </svg>{" "}
            {words[type]} <b class="number">{numberText(count)}</b>
          </li>
        ))}
      </ul>
      {points.length > 0 && <Drawing page={page} />}
      <p class="muted small">
        {`${numberText(Math.round(width))} × ${numberText(Math.round(height))} px`}
        {broken > 0 && ` · ${counted(broken, "point")} without a place`}
        {left > 0 && ` · ${counted(left, "point")} not drawn`}
      </p>
    </section>
  );
}

/** Every size is a share of the width, so points are equally large in each drawing. */
function Drawing({ page: { points, width, height, fold } }: { page: HeatPage }) {
  const radius = width / 120;
  // a flat drawing shows nothing
  const shown = Math.max(height, width / 8);
  return (
    <svg
      class="first-heat"
      viewBox={`${-radius} ${-radius} ${width + 2 * radius} ${shown + 2 * radius}`}
      role="img"
      aria-label={`${counted(points.length, "point")} of the pointer`}
    >
      {fold !== undefined && fold < height && <line class="first-heat-fold" x1={0} x2={width} y1={fold} y2={fold} />}
      {points.map((it, i) => (
        <Point key={i} point={it} radius={radius} />
      ))}
    </svg>
  );
}

function Point({ point: { x, y, type, isFixed }, radius }: { point: HeatPoint; radius: number }) {
  return (
    <circle class={`first-heat-${type}`} cx={x} cy={y} r={radius}>
      <title>{`${type} at ${Math.round(x)}, ${Math.round(y)}${isFixed ? ", fixed" : ""}`}</title>
    </circle>
  );
}
