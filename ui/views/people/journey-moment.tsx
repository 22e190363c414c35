import type { FlagInForce, Journey } from "../../../src/lab/journeys/shapes.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { Button, Time, Trouble } from "../../parts/basics.tsx";
import { EventIcon } from "../../parts/event-icon.tsx";
import { Icon } from "../../parts/icon.tsx";
import { OutcomeBadge, OutcomeSign } from "../../parts/outcome.tsx";
import { clockText, counted, explained, numberText, plain, spanText } from "../../parts/text.ts";
import { eventGroups } from "../../parts/tree/property-groups.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { inForceAt, isLost, momentText, type Placed } from "./journey-layout.ts";

const MomentIcon = ({ it }: { it: Placed }) =>
  isLost(it) ? (
    <OutcomeSign of={it.outcome} />
  ) : it.lane === "request" ? (
    <Icon of="requests" />
  ) : (
    <EventIcon name={it.name} />
  );

interface MomentDetailsProps {
  journey: Journey;
  moments: readonly Placed[];
  /** Index of the chosen moment. */
  chosen: number;
  onStep(to: number): void;
}

/** The chosen moment, the flags in force then, and its neighbours. */
export function MomentDetails({ journey, moments, chosen, onStep }: MomentDetailsProps) {
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
        {it.session !== null && (
          <>
            {" · "}
            <a href={link("sessions", [it.session], { t: it.ms })}>session at this moment</a>
          </>
        )}
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
