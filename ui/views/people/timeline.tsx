import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Join, ShortEvent, PersonStep as Step, TimelineEntry } from "../../../src/people/shapes.ts";
import { link } from "../../app/location.ts";
import { Badge, Time } from "../../parts/basics.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { plain } from "../../parts/text.ts";
import { personGroups } from "../../parts/tree/property-groups.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { Changes } from "./properties.tsx";
import { joinTexts } from "./words.ts";

/** An event on one line. */
export function EventLine({ event, withId = true }: { event: ShortEvent; withId?: boolean }) {
  const { seq, timestamp, distinct_id, outcome, reason, warnings, person_mode, request } = event;
  return (
    <div class="row row-wide people-event">
      <Time at={timestamp} />
      <a href={link("events", [seq])} class="people-name cut">
        {plain(event.event, 120) || "(no name)"}
      </a>
      {withId && <span class="mono muted cut people-whose">{plain(distinct_id, 80)}</span>}
      <span class="row row-tight end">
        {outcome === "dropped" && <OutcomeBadge of="dropped" code={reason ?? undefined} />}
        {warnings.map((it) => (
          <OutcomeBadge key={it} of="warned" code={it} />
        ))}
        {person_mode === "propertyless" && <Badge>personless</Badge>}
        <a class="muted small" href={link("requests", [request])} title="Its request">
          {`#${request}`}
        </a>
      </span>
    </div>
  );
}

function JoinText({ join: { by, other, into, outcome } }: { join: Join }) {
  return (
    <p class={outcome === "refused" ? "bad" : undefined}>
      <span class="mono">{by}</span> <code>{plain(other, 80)}</code>
      <span aria-hidden="true"> → </span>
      <span class="unseen"> into </span>
      <code>{plain(into, 80)}</code>: {joinTexts[outcome]}
    </p>
  );
}

function StepParts({ step: { created, identified, join, changes } }: { step: Step }) {
  return (
    <>
      {(created || identified) && (
        <p>
          {created && <Badge tone="accent">person created</Badge>}{" "}
          {identified && <Badge tone="good">identified</Badge>}
        </p>
      )}
      {join && <JoinText join={join} />}
      <Changes changes={changes} />
    </>
  );
}

/** Properties after an event, drawn when expanded. */
export function After({ properties, title }: { properties: JsonObject; title: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="people-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && <PayloadTree value={properties} label={title} groups={personGroups} />}
    </details>
  );
}

/** An entry of the timeline. */
export function Moment({ isStep, isRefused, children }: MomentProps) {
  const kind = isStep ? " people-moment-step" : "";
  return <li class={`people-moment${kind}${isRefused ? " people-moment-refused" : ""}`}>{children}</li>;
}

interface MomentProps {
  isStep: boolean;
  isRefused?: boolean;
  children: ComponentChildren;
}

/** Events of a person, newest first, with their changes. */
export function Moments({ events, withIds }: { events: readonly TimelineEntry[]; withIds: boolean }) {
  return (
    <ol class="people-moments">
      {events.map((it) => (
        <Moment
          key={it.seq}
          isStep={it.step !== null}
          isRefused={it.step?.join?.outcome === "refused" || it.outcome === "dropped"}
        >
          <EventLine event={it} withId={withIds} />
          {it.step && (
            <div class="stack stack-tight people-step">
              <StepParts step={it.step} />
              {it.after && <After properties={it.after.properties} title="The person after this" />}
            </div>
          )}
          {!it.is_known && <p class="muted people-step">Too old: its effects were not evaluated.</p>}
        </Moment>
      ))}
    </ol>
  );
}
