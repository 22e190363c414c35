import { useState } from "preact/hooks";
import { query } from "../../api/call.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { link, project, route } from "../../app/location.ts";
import { projectName, revision } from "../../app/sim.ts";
import { connection } from "../../feed/socket.ts";
import { Badge, Button, Facts, Section, Time, Trouble } from "../../parts/basics.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { IdentityGraph } from "./graph.tsx";
import { Properties } from "./properties.tsx";
import { Moments } from "./timeline.tsx";
import type { Gap, Timeline } from "./told.ts";
import { filterOf, nameOf, originTexts } from "./words.ts";

/** The most that the sim tells at once. */
const most = 500;

/** Without the connection the page asks by itself, ms. */
export const pollEvery = (): { every?: number } => (connection.value === "live" ? {} : { every: 3_000 });

/** The project of what is looked at: the same id may be in several. The one that is chosen comes first. */
export const placeOf = (): string | number | undefined => project.value ?? route.value.params.in;

/** What is not known, and why. */
export function Gaps({ gaps }: { gaps: readonly Gap[] }) {
  if (gaps.length === 0) return null;
  return (
    <ul class="people-gaps" aria-label="What is not known">
      {gaps.map(({ reason, sentence }) => (
        <li key={reason}>
          <Badge tone="odd">{reason}</Badge> {sentence}
        </li>
      ))}
    </ul>
  );
}

/** A person: who it is, how its ids came together, its properties, and what happened. */
export function PersonDetails({ id }: { id: string }) {
  const [limit, setLimit] = useState(50);
  const path = `persons/${encodeURIComponent(id)}/timeline${query({ project: placeOf(), limit })}`;
  const told = useResource<Timeline>(path, { revision: revision.value, ...pollEvery() });
  const { problem } = told;
  const data = useLast(told.data);
  if (!data || problem?.code === "not_found") return problem ? <Trouble problem={problem} /> : null;
  return (
    <article class="people-details">
      {problem && <Trouble problem={problem} />}
      <Head timeline={data} />
      <Section title="Identity">
        <IdentityGraph timeline={data} />
      </Section>
      <Section title="Properties">
        <Properties
          properties={data.person.properties}
          histories={data.properties}
          elsewhere={data.gaps.length > 0 ? data.elsewhere : {}}
        />
      </Section>
      <Section title="Timeline" actions={<EventsLink timeline={data} />}>
        <Moments events={data.events} withIds={data.person.distinct_ids.length > 1} />
        {data.events.length === 0 && <p class="muted">No event of this person is there.</p>}
        {data.before !== null && limit < most && (
          <Button onClick={() => setLimit(Math.min(most, limit * 2))}>Show older events</Button>
        )}
        {data.before !== null && limit === most && <p class="muted">{`These are the newest ${most}.`}</p>}
      </Section>
    </article>
  );
}

const EventsLink = ({ timeline: { person } }: { timeline: Timeline }) => (
  <a class="button" href={link("events", [], { f: filterOf(person), project: person.project })}>
    Filter events of this person
  </a>
);

function Head({ timeline: { person, origin, gaps } }: { timeline: Timeline }) {
  return (
    <Section
      title={
        <span class="people-title">
          {plain(nameOf(person), 120)}{" "}
          <Badge tone={person.is_identified ? "good" : "plain"}>
            {person.is_identified ? "identified" : "anonymous"}
          </Badge>
        </span>
      }
    >
      <Facts
        rows={[
          ["UUID", <code key="uuid">{person.uuid}</code>],
          ["Project", projectName(person.project)],
          ["Ids", counted(person.distinct_ids.length, "distinct id")],
          ["Created", <Time key="created" at={Date.parse(person.created_at)} isWhole />],
          ["Began with", originTexts[origin]],
          ["Version", numberText(person.version)],
        ]}
      />
      <Gaps gaps={gaps} />
    </Section>
  );
}
