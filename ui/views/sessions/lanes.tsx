import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { SessionPart } from "../../../src/lab/sessions/shapes.ts";
import { Scrolled } from "../../parts/basics.tsx";
import { plain, roundStep, sizeText, spanText } from "../../parts/text.ts";
import { bytesOver, type Moment, offsetText, type Story } from "./story.ts";

/** Bars of the first lane. */
const bars = 120;
/** The most dots of a lane. */
const mostDots = 400;

const percent = (share: number): string => `${(Math.max(0, Math.min(1, share)) * 100).toFixed(3)}%`;

/** Times on the axis, at most nine: round ones. */
function axisOf(length: number): { at: number; text: string }[] {
  const every = roundStep(length / 8);
  return Array.from({ length: Math.floor(length / every) + 1 }, (_, i) => ({
    at: i * every,
    text: offsetText(i * every, every % 1_000 === 0),
  }));
}

function Lane({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="session-lane">
      <span>{title}</span>
      <div class="session-track">{children}</div>
    </div>
  );
}

function Bytes({ parts, start, story }: Pick<LanesProps, "parts" | "start" | "story">) {
  const steps = bytesOver(parts, start, story.length, bars);
  const top = Math.max(1, ...steps);
  const path = steps
    .map((it, i) => (it === 0 ? "" : `M${i * 5} 18v-${Math.max(1, (it / top) * 18).toFixed(1)}h4V18z`))
    .join("");
  return (
    <>
      <svg
        class="session-bytes"
        viewBox={`0 0 ${bars * 5} 18`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Bytes over time, at most ${sizeText(top)} in ${spanText(story.length / bars)}`}
      >
        <path d={path} />
      </svg>
      {story.idle.slice(0, mostDots).map(({ from, to }) => (
        <i
          key={from}
          class="lane-idle session-idle"
          role="img"
          aria-label={`No activity for ${spanText(to - from)}`}
          title={`No activity for ${spanText(to - from)}`}
          style={{ insetInlineStart: percent(from / story.length), inlineSize: percent((to - from) / story.length) }}
        />
      ))}
    </>
  );
}

const Dots = ({ moments, kind, length }: { moments: readonly Moment[]; kind: string; length: number }) => (
  <>
    {moments.slice(0, mostDots).map(({ at, verb, name, text }, i) => (
      <i
        key={i}
        class={`lane-mark lane-${kind}`}
        style={{ insetInlineStart: percent(at / length) }}
        title={`${offsetText(at)} ${plain([verb, name, text].filter(Boolean).join(" "), 160)}`}
      />
    ))}
  </>
);

interface LanesProps {
  story: Story;
  parts: readonly SessionPart[];
  /** Start of the session, ms since 1970. */
  start: number;
  at: number;
  onSeek(at: number): void;
}

/** Lanes of a session below each other, with one playhead through all of them. A click seeks. */
export function Lanes({ story, parts, start, at, onSeek }: LanesProps) {
  const { length, moments, pages } = story;
  const lanes = useMemo(() => {
    const clicks = moments.filter((it) => it.kind === "click");
    const own = moments.filter((it) => it.kind === "own" && !it.isProblem);
    const problems = moments.filter((it) => it.isProblem);
    return (
      <>
        <Lane title="kB">
          <Bytes parts={parts} start={start} story={story} />
        </Lane>
        <Lane title="Pages">
          {pages.slice(0, mostDots).map(({ from, to, path, title }) => (
            <span
              key={from}
              class="lane-bar session-span"
              title={`${offsetText(from)} ${plain(path)} ${plain(title, 100)}`}
              style={{ insetInlineStart: percent(from / length), inlineSize: percent((to - from) / length) }}
            >
              {plain(path, 60)}
            </span>
          ))}
        </Lane>
        <Lane title="Clicks">
          <Dots moments={clicks} kind="click" length={length} />
        </Lane>
        <Lane title="Own">
          <Dots moments={own} kind="own" length={length} />
        </Lane>
        <Lane title="Problems">
          <Dots moments={problems.filter((it) => it.kind === "exception")} kind="error" length={length} />
          <Dots moments={problems.filter((it) => it.kind !== "exception")} kind="warned" length={length} />
        </Lane>
      </>
    );
  }, [story, parts, start]);
  const seekTo = (event: PointerEvent) => {
    if (!(event.currentTarget instanceof HTMLElement)) return;
    const track = event.currentTarget.querySelector(".session-track")?.getBoundingClientRect();
    if (track && event.clientX >= track.left) onSeek(((event.clientX - track.left) / track.width) * length);
  };
  return (
    <Scrolled label="Lanes" class="session-lanes">
      <div
        class="session-lanes-body"
        role="slider"
        tabIndex={0}
        aria-label="Time of the session"
        aria-valuemin={0}
        aria-valuemax={Math.round(length)}
        aria-valuenow={Math.round(at)}
        aria-valuetext={offsetText(at)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          seekTo(event);
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) seekTo(event);
        }}
      >
        {lanes}
        <div class="session-over">
          <i class="lane-playhead" style={{ insetInlineStart: percent(at / length) }} />
        </div>
      </div>
      <div class="session-lane" aria-hidden="true">
        <span />
        <div class="session-axis">
          {axisOf(length).map(({ at: mark, text }) => (
            <span key={mark} style={{ insetInlineStart: percent(mark / length) }}>
              {text}
            </span>
          ))}
        </div>
      </div>
    </Scrolled>
  );
}
