import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import type { PropertyChange, PropertyHistory } from "../../../src/lab/person-history/shapes.ts";
import { isSdkProperty } from "../../../src/state/journal/sdk-properties.ts";
import { link } from "../../app/location.ts";
import { Time } from "../../parts/basics.tsx";
import { counted, plain } from "../../parts/text.ts";
import { personGroups } from "../../parts/tree/property-groups.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { valueLine } from "./words.ts";

function Value({ of }: { of: Json }) {
  return <code class="people-value">{valueLine(of)}</code>;
}

function Change({ change: { property, by, from, to } }: { change: PropertyChange }) {
  return (
    <li class="row row-wide row-base">
      <span class="mono people-property">{plain(property, 80)}</span>
      <span class="people-fromto">
        {from !== undefined && (
          <>
            <span class="unseen">from </span>
            <del>
              <Value of={from} />
            </del>
            <span aria-hidden="true"> → </span>
            <span class="unseen"> to </span>
          </>
        )}
        {to === undefined ? <span class="muted">removed</span> : <Value of={to} />}
      </span>
      <span class="people-by mono">{by}</span>
    </li>
  );
}

const List = ({ changes }: { changes: readonly PropertyChange[] }) => (
  <ul class="stack stack-tight people-changes">
    {changes.map((it) => (
      <Change key={it.property} change={it} />
    ))}
  </ul>
);

/** Changes by an event: the app's own first, then those by the SDK and the service. */
export function Changes({ changes }: { changes: readonly PropertyChange[] }) {
  const own = changes.filter((it) => !isSdkProperty(it.property));
  const service = changes.filter((it) => isSdkProperty(it.property));
  return (
    <>
      {own.length > 0 && <List changes={own} />}
      {service.length > 0 && (
        <details class="people-more">
          <summary>{`${service.length} set by the SDK`}</summary>
          <List changes={service} />
        </details>
      )}
    </>
  );
}

interface PropertiesProps {
  properties: JsonObject;
  histories: readonly PropertyHistory[];
  elsewhere?: JsonObject;
}

export function Properties({ properties, histories, elsewhere = {} }: PropertiesProps) {
  const own = histories.filter((it) => !isSdkProperty(it.property));
  const service = histories.filter((it) => isSdkProperty(it.property));
  const others = Object.keys(elsewhere);
  return (
    <>
      {Object.keys(properties).length === 0 ? (
        <p class="muted">
          None yet. Events set them with <code>$set</code> and <code>$set_once</code>.
        </p>
      ) : (
        <PayloadTree
          value={properties}
          label="Properties"
          groups={personGroups}
          search={Object.keys(properties).length > 10}
        />
      )}
      {others.length > 0 && (
        <p class="muted">
          No listed event set <span class="mono">{others.map((it) => plain(it, 60)).join(", ")}</span>.
        </p>
      )}
      {own.length > 0 && <Histories title="Values over time" histories={own} />}
      {service.length > 0 && (
        <details class="people-more">
          <summary>{`Values over time of ${service.length} set by the SDK`}</summary>
          <Histories title="Set by the SDK" histories={service} />
        </details>
      )}
    </>
  );
}

function Histories({ title, histories }: { title: string; histories: readonly PropertyHistory[] }) {
  return (
    <div class="stack stack-tight people-histories">
      <h3>{title}</h3>
      {histories.map((it) => (
        <History key={it.property} history={it} />
      ))}
    </div>
  );
}

function History({ history: { property, values, left_out } }: { history: PropertyHistory }) {
  const count = values.length + left_out;
  const [last] = values;
  return (
    <details class="people-history">
      <summary class="row row-wide row-base">
        <span class="mono people-property">{plain(property, 80)}</span>
        <span class="people-fromto">
          {last?.value === undefined ? <span class="muted">removed</span> : <Value of={last.value} />}
        </span>
        <span class="muted">{counted(count, "value")}</span>
      </summary>
      <ol>
        {values.map(({ seq, timestamp, by, value }) => (
          <li key={seq} class="row row-wide row-base">
            <Time at={timestamp} isWhole />
            <span class="people-fromto">
              {value === undefined ? <span class="muted">removed</span> : <Value of={value} />}
            </span>
            <span class="people-by mono">{by}</span>
            <a href={link("events", [seq])}>{`event ${seq}`}</a>
          </li>
        ))}
        {left_out > 0 && <li class="muted">{`${counted(left_out, "older value")} left out`}</li>}
      </ol>
    </details>
  );
}
