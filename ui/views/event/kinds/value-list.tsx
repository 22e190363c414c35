import type { Json } from "../../../../src/kernel/base/json.ts";
import { counted } from "../../../parts/text.ts";
import { kindOf, kinds } from "../../../parts/tree/model.ts";
import { Named, ShownValue } from "../event-parts.tsx";

export type NamedValue = readonly [name: string, value: Json];

const most = 100;

/** Names and values of an event, with their types. */
export function ValueList({ label, values }: { label: string; values: readonly NamedValue[] }) {
  return (
    <>
      <dl class="first-values" aria-label={label}>
        {values.slice(0, most).map(([name, value], i) => (
          <div key={i}>
            <dt class="mono">
              <Named text={name} otherwise="(no name)" />
            </dt>
            <dd>
              <ShownValue value={value} />
            </dd>
            <dd class="faint first-type">{kinds[kindOf(value)].name}</dd>
          </div>
        ))}
      </dl>
      <NotShown left={values.length - most} noun="value" />
    </>
  );
}

/** What a bounded list leaves out. */
export const NotShown = ({ left, noun }: { left: number; noun: string }) =>
  left > 0 ? <p class="muted small">{`${counted(left, noun)} more: see the properties.`}</p> : null;
