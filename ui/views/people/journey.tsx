import { useMemo, useState } from "preact/hooks";
import type { Journey } from "../../../src/lab/journeys/shapes.ts";
import { query } from "../../api/call.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { useKeys } from "../../app/keyboard.ts";
import { go, link, route, withParams } from "../../app/location.ts";
import { revision } from "../../app/sim.ts";
import { Button, Trouble } from "../../parts/basics.tsx";
import { CheckField } from "../../parts/fields.tsx";
import { Icon } from "../../parts/icon.tsx";
import { OutcomeSign } from "../../parts/outcome.tsx";
import { clockText, counted, dateText, numberText, plain, shortId, spanText } from "../../parts/text.ts";
import { damageIn, isLost, isTelling, type Placed, placed, sessionsIn } from "./journey-layout.ts";
import { MomentDetails } from "./journey-moment.tsx";
import { placeOf } from "./person.tsx";
import { Swim } from "./swim.tsx";
import { filterOf, nameOf } from "./words.ts";

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
  if (!data) return loaded.problem ? <Trouble problem={loaded.problem} /> : <p class="muted shell-loading">Loading</p>;
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
  const flags = useMemo(() => (isBrief ? journey.flags.filter(isTelling) : journey.flags), [isBrief, journey.flags]);
  return (
    <>
      <div class="row row-wide journey-bar">
        <Sessions moments={moments} />
        <span class="row row-tight end">
          {journey.flags.length > 0 && (
            <CheckField label="Only flags that changed or were used" isChecked={isBrief} onChange={setBrief} />
          )}
          <Button kind="quiet" aria-label="Zoom out" disabled={zoom === 0} onClick={() => zoomBy(-1)}>
            −
          </Button>
          <span class="small num">{zooms[zoom]} ×</span>
          <Button kind="quiet" aria-label="Zoom in" disabled={zoom === zooms.length - 1} onClick={() => zoomBy(1)}>
            +
          </Button>
        </span>
      </div>
      <Cuts journey={journey} moments={moments} />
      <Swim moments={moments} flags={flags} chosen={chosen} zoom={zooms[zoom] ?? 1} onStep={step} />
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
          <span class="mono">{shortId(it.id)}</span> {`${spanText(it.to - it.from)}, ${counted(it.events, "event")}`}
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
        <li key={it}>
          <OutcomeSign of="warned" /> {it}
        </li>
      ))}
    </ul>
  );
}
