import type { Json, JsonObject } from "../../../src/kernel/json.ts";
import { own } from "../../../src/kernel/json.ts";
import type { StoredEvent } from "../../../src/model/stored-event.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { counted } from "../../parts/text.ts";
import { isSame } from "./diff.ts";
import { Named } from "./named.tsx";
import { copiedSteps, ownSteps } from "./person-steps.ts";
import { ShownValue } from "./shown-value.tsx";
import { type PersonStep, personSteps } from "./steps.ts";

interface KnownPerson {
  readonly uuid: string;
  readonly distinct_ids: readonly string[];
  readonly properties: JsonObject;
}

const does: Readonly<Record<PersonStep["does"], string>> = {
  set: "sets",
  "set once": "sets, if unset",
  unset: "takes away",
  merge: "merges with",
  group: "belongs to",
};

/** What the person has now, where that is something else. */
function Now({ step, properties }: { step: PersonStep; properties: JsonObject | undefined }) {
  if (properties === undefined || !step.does.startsWith("set")) return null;
  const now: Json | undefined = own(properties, step.name);
  if (isSame(now, step.value)) return <span class="muted">the same now</span>;
  return now === undefined ? <span class="muted">gone now</span> : <ShownValue value={now} />;
}

function Steps({ steps, person }: { steps: readonly PersonStep[]; person: KnownPerson | undefined }) {
  return (
    <table class="table event-person">
      <thead>
        <tr>
          <th scope="col">It</th>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {steps.slice(0, 200).map((step) => (
          <tr key={`${step.does} ${step.name}`}>
            <td>{does[step.does]}</td>
            <td class="mono">
              <Named text={step.name} otherwise="(no name)" />
            </td>
            <td>{step.value !== undefined && <ShownValue value={step.value} />}</td>
            <td>
              <Now step={step} properties={person?.properties} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What the event did to its person and its groups, beside what is so now. */
export function PersonChanges({ event }: { event: StoredEvent }) {
  const id = event.person_mode === "full" ? event.person_id : null;
  const path =
    id === null ? null : `persons/${encodeURIComponent(id)}${query({ project: event.project ?? undefined })}`;
  const { data: person } = useResource<KnownPerson>(path);
  const steps = personSteps(event);
  const [meant, copied] = [ownSteps(steps), copiedSteps(steps)];
  if (event.outcome === "dropped") return <p class="muted">It was dropped: no person was changed.</p>;
  return (
    <div class="event-stack">
      {meant.length > 0 ? (
        <Steps steps={meant} person={person} />
      ) : (
        <p class="muted">It sets nothing of its person and merges nobody.</p>
      )}
      {copied.length > 0 && (
        <details>
          <summary>{`Copied by the service: ${counted(copied.length, "field")}`}</summary>
          <Steps steps={copied} person={person} />
        </details>
      )}
      {person && (
        <p>
          <a href={link("people", [person.uuid])}>The person</a>{" "}
          <span class="muted">known by {counted(person.distinct_ids.length, "distinct id")}</span>
        </p>
      )}
    </div>
  );
}
