import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FlagInForce } from "../../../src/lab/journeys/shapes.ts";
import { clockText, dateText, spanText } from "../../parts/text.ts";
import { axisOf, nearest, type Placed, ticksOf, xOf } from "./journey-layout.ts";
import { FlagLane, IdentityLane, Lane, lastLanes, MarkLane, markLanes, PageLane, px } from "./swim-lanes.tsx";

interface SwimProps {
  moments: readonly Placed[];
  /** Index of the chosen moment. */
  chosen: number;
  flags: readonly FlagInForce[];
  zoom: number;
  onStep(to: number): void;
}

/** Width of the lanes' heads, as in the style sheet. */
const headWidth = 136;
const leastWidth = 640;

function useRoom() {
  const box = useRef<HTMLElement>(null);
  const [room, setRoom] = useState(leastWidth);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setRoom(Math.max(leastWidth, Math.floor(element.clientWidth) - headWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { box, room };
}

/** Lanes over time, with one playhead through all of them. */
export function Swim({ moments, flags, chosen, zoom, onStep }: SwimProps) {
  const { box, room } = useRoom();
  const axis = useMemo(() => axisOf(moments, room * zoom), [moments, room, zoom]);
  const it = moments[chosen];
  const x = it === undefined ? 0 : xOf(axis, it.ms);
  // keeps the playhead in view
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const seen = element.clientWidth - headWidth;
    const isSeen = x > element.scrollLeft + 20 && x < element.scrollLeft + seen - 20;
    if (!isSeen) element.scrollLeft = Math.max(0, x - seen / 2);
  }, [x, box]);
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => onStep(chosen - 1),
    ArrowRight: () => onStep(chosen + 1),
    Home: () => onStep(0),
    End: () => onStep(moments.length - 1),
  };
  const pick = (event: MouseEvent) => {
    const lane = event.target instanceof Element ? event.target.closest("[data-lane]") : null;
    const inner = box.current?.firstElementChild?.getBoundingClientRect();
    if (!inner) return;
    const wanted = lane?.getAttribute("data-lane");
    const mine = moments.filter((moment) => moment.lane === wanted);
    const found = nearest(axis, mine.length > 0 ? mine : moments, event.clientX - inner.left - headWidth);
    if (found) onStep(moments.indexOf(found));
  };
  // thousands of marks are not drawn again for each step
  const lanes = useMemo(
    () => (
      <>
        <Lane title={dateText(moments[0]?.ms ?? 0).slice(0, 10)} text="Times" class="swim-times">
          {ticksOf(axis).map((tick) => (
            <span key={tick.x} class={`swim-label swim-${tick.side}`} style={{ insetInlineStart: px(tick.x) }}>
              {clockText(tick.ms).slice(0, 8)}
            </span>
          ))}
        </Lane>
        <IdentityLane axis={axis} moments={moments} />
        <PageLane axis={axis} moments={moments} />
        {markLanes.map((lane) => (
          <MarkLane key={lane.id} lane={lane} axis={axis} moments={moments} />
        ))}
        <FlagLane axis={axis} moments={moments} flags={flags} />
        {lastLanes.map((lane) => (
          <MarkLane key={lane.id} lane={lane} axis={axis} moments={moments} />
        ))}
      </>
    ),
    [axis, moments, flags],
  );
  return (
    <section
      class="swim"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrows step through the moments
      tabIndex={0}
      aria-label="Swimlanes: arrow keys step through the moments"
      onClick={pick}
      onKeyDown={(event) => {
        const run = keys[event.key];
        if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        run();
      }}
    >
      <div class="swim-in" style={{ inlineSize: px(axis.width + headWidth) }}>
        {lanes}
        <div class="swim-over">
          {axis.folds.map((fold) => (
            <span
              key={fold.x}
              class="lane-idle swim-fold"
              style={{ insetInlineStart: px(fold.x), inlineSize: px(fold.width) }}
            >
              <span>{spanText(fold.to - fold.from)}</span>
            </span>
          ))}
          <i class="lane-playhead" style={{ insetInlineStart: px(x) }} />
        </div>
      </div>
    </section>
  );
}
