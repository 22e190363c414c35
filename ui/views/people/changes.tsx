import type { Json } from "../../../src/kernel/json.ts";
import { isSdkProperty } from "../../../src/kernel/sdk-properties.ts";
import { plain } from "../../parts/text.ts";
import type { PropertyChange } from "./told.ts";
import { valueLine } from "./words.ts";

/** A value on one line. */
export function Value({ of }: { of: Json }) {
  return <code class="people-value">{valueLine(of)}</code>;
}

function Change({ change: { property, by, from, to } }: { change: PropertyChange }) {
  return (
    <li class="people-change">
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
        {to === undefined ? <span class="muted">taken away</span> : <Value of={to} />}
      </span>
      <span class="people-by">{by}</span>
    </li>
  );
}

const List = ({ changes }: { changes: readonly PropertyChange[] }) => (
  <ul class="people-changes">
    {changes.map((it) => (
      <Change key={it.property} change={it} />
    ))}
  </ul>
);

/** What an event changed: what the app said first, then what SDK and service add by themselves. */
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
