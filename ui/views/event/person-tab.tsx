import { type Json, type JsonObject, own } from "../../../src/base/json.ts";
import type { StoredEvent } from "../../../src/journal/stored-event.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { isCopy } from "../../copy/subject.ts";
import { Table } from "../../parts/layout.tsx";
import { counted } from "../../parts/text.ts";
import { isSame } from "./diff.ts";
import { type PersonStep, personSteps } from "./event-facts.ts";
import { Named, ShownValue } from "./event-parts.tsx";

interface KnownPerson {
  readonly uuid: string;
  readonly distinct_ids: readonly string[];
  readonly properties: JsonObject;
}

const does: Readonly<Record<PersonStep["does"], string>> = {
  set: "sets",
  "set once": "sets, if unset",
  unset: "removes",
  merge: "merges with",
  group: "belongs to",
};

/** The person's current value. */
function Now({ step, properties }: { step: PersonStep; properties: JsonObject | undefined }) {
  if (properties === undefined || !step.does.startsWith("set")) return null;
  const now: Json | undefined = own(properties, step.name);
  if (isSame(now, step.value)) return <span class="muted">unchanged</span>;
  return now === undefined ? <span class="muted">removed since</span> : <ShownValue value={now} />;
}

function Steps({ steps, person }: { steps: readonly PersonStep[]; person: KnownPerson | undefined }) {
  return (
    <Table class="event-person" columns={["Change", "Name", "Value", "Current value"]}>
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
    </Table>
  );
}

/** The tab with the event's changes of its person and groups, and the current values. */
export function PersonChanges({ event }: { event: StoredEvent }) {
  const id = event.person_mode === "full" ? event.person_id : null;
  const path =
    id === null ? null : `persons/${encodeURIComponent(id)}${query({ project: event.project ?? undefined })}`;
  const { data: person } = useResource<KnownPerson>(path);
  const steps = personSteps(event);
  const [meant, copied] = [ownSteps(steps), copiedSteps(steps)];
  if (event.outcome === "dropped") return <p class="muted">The event was dropped: no person was changed.</p>;
  return (
    <div class="event-stack">
      {meant.length > 0 ? (
        <Steps steps={meant} person={person} />
      ) : (
        <p class="muted">The event changes no person properties and merges no persons.</p>
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

const isCopied = ({ does, name }: PersonStep): boolean => does.startsWith("set") && isCopy(name);

/** Intended changes of the person. */
export const ownSteps = (steps: readonly PersonStep[]): PersonStep[] => steps.filter((it) => !isCopied(it));

/** Changes that the service copies from the event's properties. */
const copiedSteps = (steps: readonly PersonStep[]): PersonStep[] => steps.filter(isCopied);
