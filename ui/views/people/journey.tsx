import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { StoredEvent } from "../../../src/journal/stored-event.ts";
import type { FlagInForce, Journey } from "../../../src/journeys/shapes.ts";
import { query } from "../../api/call.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keyboard.ts";
import { go, link, route, withParams } from "../../app/location.ts";
import { revision } from "../../app/sim.ts";
import { Button, Time, Trouble } from "../../parts/basics.tsx";
import { EventIcon } from "../../parts/event-icon.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { OutcomeBadge, OutcomeSign } from "../../parts/outcome.tsx";
import {
  clockText,
  counted,
  dateText,
  explained,
  numberText,
  plain,
  shortId,
  spanText,
} from "../../parts/text.ts";
import { eventGroups } from "../../parts/tree/property-groups.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import {
  type Axis,
  axisOf,
  type Bar,
  damageIn,
  flagBars,
  idBars,
  inForceAt,
  isTelling,
  labelsOf,
  nearest,
  type Placed,
  pageBars,
  placed,
  sessionsIn,
  ticksOf,
  xOf,
} from "./journey-layout.ts";
import { placeOf } from "./person.tsx";
import { filterOf, nameOf } from "./words.ts";

const px = (n: number): string => `${n.toFixed(1)}px`;

const isLost = ({ outcome }: Placed): boolean => outcome === "rejected" || outcome === "dropped";

/** What a moment is, in a few words. */
function momentText(it: Placed): string {
  const name = plain(it.name, 80) || "(no name)";
  const text = plain(it.text, 120);
  if (it.lane === "request") {
    const carried = it.events ? `, ${counted(it.events, "event")}` : "";
    return `${name} ${it.status === 0 ? "no response" : it.status}${carried}`;
  }
  if (it.lane === "click") return text === "" ? name : `click “${text}”`;
  if (it.lane === "page" || it.lane === "problem") return text === "" ? name : text;
  return text === "" ? name : `${name}: ${text}`;
}

/** The first error or loss, else the last moment. */
const startOf = (moments: readonly Placed[]): Placed | undefined =>
  moments.find((it) => it.name === "$exception" || isLost(it)) ?? moments.at(-1);

/** A person's events, requests and flag values over time. */
export function JourneyPage({ id }: { id: string }) {
  const { session, at } = route.value.params;
  const path = `persons/${encodeURIComponent(id)}/journey${query({ project: placeOf(), session })}`;
  const loaded = useResource<Journey>(path, { revision: revision.value });
  const data = useLast(loaded.data);
  const moments = useMemo(() => placed(data?.moments ?? []), [data]);
  if (!data) return loaded.problem ? <Trouble problem={loaded.problem} /> : null;
  const found = moments.findIndex((it) => it.id === at);
  const start = startOf(moments);
  const chosen = found >= 0 ? found : start ? moments.indexOf(start) : -1;
  return (
    <article class="journey">
      {loaded.problem && <Trouble problem={loaded.problem} />}
      <JourneyHead journey={data} moments={moments} id={id} />
      {moments.length === 0 ? (
        <p class="journey-none muted">
          {session === undefined ? "No events of this person." : "No events of this person in this session."}
        </p>
      ) : (
        <Chosen journey={data} moments={moments} chosen={chosen} />
      )}
    </article>
  );
}

interface HeadProps {
  journey: Journey;
  moments: readonly Placed[];
  id: string;
}

const initials = (name: string): string =>
  (name.match(/[\p{L}\p{N}]+/gu) ?? [])
    .slice(0, 2)
    .map((it) => [...it][0] ?? "")
    .join("")
    .toUpperCase();

function JourneyHead({ journey, moments, id }: HeadProps) {
  const { person } = journey;
  const name = plain(nameOf(person), 120);
  const [first, last] = [moments[0], moments.at(-1)];
  const { session } = route.value.params;
  return (
    <header class="journey-head">
      <span class="journey-avatar" aria-hidden="true">
        {initials(name)}
      </span>
      <div class="journey-name">
        <h2 class="cut">{name}</h2>
        <p class="small muted cut">
          {person.distinct_ids
            .slice(-2)
            .reverse()
            .map((it) => plain(it, 40))
            .join(" · ")}
          {` · ${counted(person.distinct_ids.length, "id")}`}
          {first && last && ` · first ${dateText(first.ms)} · last ${clockText(last.ms)}`}
        </p>
      </div>
      <nav class="row row-tight end" aria-label="About the person">
        <a class="button" aria-current="page" href={withParams({})}>
          Journey
        </a>
        <a class="button" href={link("people", [id], { in: route.value.params.in })}>
          Timeline and properties
        </a>
        <a
          class="button"
          href={link("events", [], {
            f: session === undefined ? filterOf(person) : undefined,
            project: person.project,
          })}
        >
          <Icon of="events" />
          Events
        </a>
      </nav>
    </header>
  );
}

const zooms = [1, 2, 4, 8, 16] as const;
const fewFlags = 6;
const mostSessions = 8;

interface ChosenProps {
  journey: Journey;
  moments: readonly Placed[];
  /** Index of the chosen moment. */
  chosen: number;
}

function Chosen({ journey, moments, chosen }: ChosenProps) {
  const [zoom, setZoom] = useState(0);
  const [isBrief, setBrief] = useState(journey.flags.length > fewFlags);
  const step = (to: number) => {
    const it = moments[Math.max(0, Math.min(moments.length - 1, to))];
    if (it) go(withParams({ at: it.id }), true);
  };
  const zoomBy = (by: number) => setZoom((it) => Math.max(0, Math.min(zooms.length - 1, it + by)));
  useKeys("Journey", [
    { keys: "h", does: "Previous moment", run: () => step(chosen - 1) },
    { keys: "l", does: "Next moment", run: () => step(chosen + 1) },
    { keys: "+", does: "Zoom in", run: () => zoomBy(1) },
    { keys: "-", does: "Zoom out", run: () => zoomBy(-1) },
  ]);
  const flags = useMemo(
    () => (isBrief ? journey.flags.filter(isTelling) : journey.flags),
    [isBrief, journey.flags],
  );
  return (
    <>
      <div class="row row-wide journey-bar">
        <Sessions moments={moments} />
        <span class="row row-tight end">
          {journey.flags.length > 0 && (
            <label class="row row-tight small">
              <input
                type="checkbox"
                checked={isBrief}
                onInput={(event) => setBrief(event.currentTarget.checked)}
              />
              Only flags that changed or were used
            </label>
          )}
          <Button kind="quiet" aria-label="Zoom out" disabled={zoom === 0} onClick={() => zoomBy(-1)}>
            −
          </Button>
          <span class="small num">{zooms[zoom]} ×</span>
          <Button
            kind="quiet"
            aria-label="Zoom in"
            disabled={zoom === zooms.length - 1}
            onClick={() => zoomBy(1)}
          >
            +
          </Button>
        </span>
      </div>
      <Cuts journey={journey} moments={moments} />
      <Swim
        journey={journey}
        moments={moments}
        flags={flags}
        chosen={chosen}
        zoom={zooms[zoom] ?? 1}
        onStep={step}
      />
      <MomentDetails journey={journey} moments={moments} chosen={chosen} onStep={step} />
    </>
  );
}

/** The sessions as links; one shows itself alone. */
function Sessions({ moments }: { moments: readonly Placed[] }) {
  const { session } = route.value.params;
  const sessions = sessionsIn(moments);
  const shown = sessions.slice(-mostSessions);
  return (
    <nav class="row row-wide small" aria-label="Sessions">
      <b>{counted(sessions.length, "session")}</b>
      {session !== undefined && (
        <a href={withParams({ session: undefined, at: undefined })}>All sessions of this person</a>
      )}
      {shown.map((it) => (
        <a
          key={it.id}
          class="journey-session"
          href={withParams({ session: it.id, at: undefined })}
          aria-current={it.id === session ? "true" : undefined}
          title={plain(it.id, 200)}
        >
          <span class="mono">{shortId(it.id)}</span>{" "}
          {`${spanText(it.to - it.from)}, ${counted(it.events, "event")}`}
        </a>
      ))}
      {sessions.length > shown.length && (
        <span class="muted">{`and ${numberText(sessions.length - shown.length)} older`}</span>
      )}
      {session === undefined && <span class="muted">time without events is folded</span>}
    </nav>
  );
}

/** What is missing or damaged. */
function Cuts({ journey, moments }: { journey: Journey; moments: readonly Placed[] }) {
  const { left_out: leftOut, is_all: isAll, flags_left_out: flagsLeftOut } = journey;
  const lines = [
    ...(leftOut > 0
      ? [`the newest ${numberText(moments.length)} moments, ${numberText(leftOut)} older are left out`]
      : []),
    ...(isAll ? [] : ["older events or requests were not searched"]),
    ...(flagsLeftOut > 0 ? [`${counted(flagsLeftOut, "flag")} without changes left out`] : []),
    ...damageIn(moments),
  ];
  if (lines.length === 0) return null;
  return (
    <ul class="row row-wide small journey-cuts" aria-label="What is missing or damaged">
      {lines.map((it) => (
        <li key={it} class="row row-tight">
          <OutcomeSign of="warned" />
          {it}
        </li>
      ))}
    </ul>
  );
}

interface SwimProps extends ChosenProps {
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

/** Lanes of marks, below the two with bars. */
const markLanes: readonly {
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
const lastLanes: typeof markLanes = [
  { id: "request", title: "Requests", icon: "requests", has: (it) => it.lane === "request" },
  {
    id: "problem",
    title: "Problems",
    icon: "exception",
    hasLabels: true,
    has: (it) => it.lane === "problem",
  },
];

function Swim({ moments, flags, chosen, zoom, onStep }: SwimProps) {
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
            <span
              key={tick.x}
              class={`swim-label swim-${tick.side}`}
              style={{ insetInlineStart: px(tick.x) }}
            >
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
              class="swim-fold"
              style={{ insetInlineStart: px(fold.x), inlineSize: px(fold.width) }}
            >
              <span>{spanText(fold.to - fold.from)}</span>
            </span>
          ))}
          <i class="swim-playhead" style={{ insetInlineStart: px(x) }} />
        </div>
      </div>
    </section>
  );
}

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

function Lane({ title, count, icon, text, lane, class: name, children }: LaneProps) {
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

const BarPart = ({ bar, kind }: { bar: Bar; kind: string }) => (
  <span
    class={`swim-bar ${kind}`}
    style={{ insetInlineStart: px(bar.x), inlineSize: px(bar.width) }}
    title={plain(bar.text, 200)}
  >
    <span class="swim-name">{plain(bar.text, 80)}</span>
  </span>
);

function IdentityLane({ axis, moments }: AxisProps) {
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

function PageLane({ axis, moments }: AxisProps) {
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
  if (it.lane === "problem") return it.name === "$web_vitals" ? "swim-warned" : "swim-error";
  if (it.outcome === "dropped") return "swim-error";
  return `swim-${it.lane}`;
};

const Mark = ({ it, axis }: { it: Placed; axis: Axis }) => (
  <i
    class={`swim-mark ${markClass(it)}`}
    style={{ insetInlineStart: px(xOf(axis, it.ms)) }}
    title={momentText(it)}
  />
);

/** Colour of a name: as its mark. */
const labelTone = (it: Placed): string => {
  if (isLost(it)) return `outcome-${it.outcome}`;
  if (it.lane !== "problem") return "";
  return it.name === "$web_vitals" ? "outcome-warned" : "outcome-dropped";
};

function MarkLane({ lane, axis, moments }: AxisProps & { lane: (typeof markLanes)[number] }) {
  const mine = moments.filter(lane.has);
  if (mine.length === 0 && lane.id === "other") return null;
  const lost = mine.filter(isLost);
  const named =
    lane.id === "request" ? mine.filter((it) => it.outcome === "rejected") : lane.hasLabels ? mine : [];
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
        <span
          key={it.id}
          class={`swim-label swim-row-${it.row} ${it.tone}`}
          style={{ insetInlineStart: px(it.x) }}
        >
          {it.text}
        </span>
      ))}
    </Lane>
  );
}

const flagRow = 24;
const mostFlagRows = 40;

function FlagLane({ axis, moments, flags }: AxisProps & { flags: readonly FlagInForce[] }) {
  const range = [moments[0]?.ms ?? 0, moments.at(-1)?.ms ?? 0] as const;
  const uses = moments.filter((it) => it.lane === "flag");
  const rows = flags
    .map(({ key, ...rest }) => ({ key, bars: flagBars(axis, { key, ...rest }, range) }))
    .filter((it) => it.bars.length > 0)
    .slice(0, mostFlagRows);
  const text = rows.map(
    ({ key, bars }) =>
      `${plain(key, 60)} ${bars.map((it) => plain(String(it.span.value), 40)).join(", then ")}`,
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
            style={{
              insetInlineStart: px(it.x),
              inlineSize: px(it.width),
              insetBlockStart: px(5 + row * flagRow),
            }}
            title={plain(`${key} = ${it.text}`, 300)}
          >
            <span class="swim-name">{plain(`${key} = ${it.text}`, 120)}</span>
          </span>
        )),
      )}
      {uses.map((it) => (
        <Mark key={it.id} it={it} axis={axis} />
      ))}
    </Lane>
  );
}

const MomentIcon = ({ it }: { it: Placed }) =>
  isLost(it) ? (
    <OutcomeSign of={it.outcome} />
  ) : it.lane === "request" ? (
    <Icon of="requests" />
  ) : (
    <EventIcon name={it.name} />
  );

interface MomentDetailsProps extends ChosenProps {
  onStep(to: number): void;
}

/** The chosen moment, the flags in force then, and its neighbours. */
function MomentDetails({ journey, moments, chosen, onStep }: MomentDetailsProps) {
  const it = moments[chosen];
  if (!it) return null;
  return (
    <section class="journey-moment" aria-label="The chosen moment">
      <div class="stack">
        <div class="row journey-moment-head">
          <MomentIcon it={it} />
          <h3 aria-live="polite">
            {plain(it.name, 80) || "(no name)"} at <span class="num">{clockText(it.ms)}</span>
          </h3>
          <span class="row row-tight end">
            <span class="small muted num">{`${chosen + 1} of ${numberText(moments.length)}`}</span>
            <Button
              kind="quiet"
              aria-label="Moment before"
              title="Before (h)"
              disabled={chosen === 0}
              onClick={() => onStep(chosen - 1)}
            >
              <Icon of="left" />
            </Button>
            <Button
              kind="quiet"
              aria-label="Moment after"
              title="After (l)"
              disabled={chosen === moments.length - 1}
              onClick={() => onStep(chosen + 1)}
            >
              <Icon of="right" />
            </Button>
          </span>
        </div>
        {it.lane === "request" ? <RequestPart it={it} /> : <EventPart it={it} />}
      </div>
      <InForcePart flags={journey.flags} ms={it.ms} />
      <Neighbours moments={moments} chosen={chosen} onStep={onStep} />
    </section>
  );
}

function Reason({ it }: { it: Placed }) {
  if (it.outcome === "kept" || it.reason === null) return null;
  return (
    <div class={`callout callout-${it.outcome}`}>
      <OutcomeBadge of={it.outcome} code={plain(it.reason, 60)} />
      <p>{plain(it.outcome === "rejected" ? it.text : explained(it.reason).sentence, 300)}</p>
    </div>
  );
}

function RequestPart({ it }: { it: Placed }) {
  return (
    <>
      <Reason it={it} />
      <p class="small">
        <a href={link("requests", [it.request])}>Request {it.request}</a>
        {` · ${momentText(it)}`}
      </p>
    </>
  );
}

const toneOf = ({ name }: Placed): string => (name === "$web_vitals" ? "callout-warned" : "callout-dropped");

function EventPart({ it }: { it: Placed }) {
  const loaded = useResource<StoredEvent>(`events/${it.seq}`, {});
  const { data: event, problem } = loaded;
  const isCurrent = event?.seq === it.seq;
  return (
    <>
      {it.text !== "" && (
        <p class={it.lane === "problem" ? `callout ${toneOf(it)}` : "journey-text"}>{plain(it.text, 300)}</p>
      )}
      <Reason it={it} />
      <p class="small">
        <a href={link("events", [it.seq ?? 0])}>Event {it.seq}</a>
        {" · "}
        <a href={link("requests", [it.request])}>request {it.request}</a>
        {it.clock !== null && (
          <span class="muted">
            {it.clock === "ahead" ? " · its own time is in the future: " : " · its own time is before 2000: "}
            {isCurrent && event && <Time at={event.timestamp} isWhole />}
            {", shown at its arrival"}
          </span>
        )}
      </p>
      {problem && <Trouble problem={problem} />}
      {isCurrent && event && (
        <PayloadTree value={event.properties} label="Properties of the event" groups={eventGroups} />
      )}
    </>
  );
}

const mostInForce = 12;

function InForcePart({ flags, ms }: { flags: readonly FlagInForce[]; ms: number }) {
  const found = inForceAt(flags, ms);
  return (
    <div class="stack">
      <h3>Flags in force at that moment</h3>
      {found.length === 0 && <p class="muted">No client of this person had asked for flags.</p>}
      <ul class="journey-force">
        {found.slice(0, mostInForce).map(({ key, span, since, next }) => (
          <li key={key}>
            <a class="mono cut" href={link("flags", [key])}>
              {plain(key, 60)}
            </a>
            <span class="mono cut">{plain(String(span.value), 60)}</span>
            <span class="small muted num">
              {next
                ? `next ${plain(String(next.value), 20)}, ${spanText(Date.parse(next.from) - ms)}`
                : `for ${spanText(since)}`}
            </span>
          </li>
        ))}
      </ul>
      {found.length > mostInForce && (
        <p class="small muted">{`and ${counted(found.length - mostInForce, "more flag")}`}</p>
      )}
    </div>
  );
}

const signed = (ms: number): string =>
  ms === 0
    ? "0"
    : `${ms < 0 ? "−" : "+"}${Math.abs(ms) < 100_000 ? `${(Math.abs(ms) / 1_000).toFixed(3)} s` : spanText(ms)}`;

function Neighbours({ moments, chosen, onStep }: Pick<MomentDetailsProps, "moments" | "chosen" | "onStep">) {
  const from = Math.max(0, Math.min(chosen - 3, moments.length - 7));
  const now = moments[chosen]?.ms ?? 0;
  return (
    <div class="stack">
      <h3>Before and after</h3>
      <ol class="journey-near">
        {moments.slice(from, from + 7).map((it, i) => (
          <li key={it.id}>
            <button
              type="button"
              aria-current={from + i === chosen ? "true" : undefined}
              onClick={() => onStep(from + i)}
            >
              <span class="num muted">{signed(it.ms - now)}</span>
              <MomentIcon it={it} />
              <span class="cut">{momentText(it)}</span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
