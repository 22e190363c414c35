import { Field } from "../../parts/basics.tsx";
import type { FaultForm } from "./order.ts";

/** How often a fault hits, and until when. */
export type Limits = Pick<FaultForm, "rate" | "times" | "duration">;

/** How often and for how long; all of it optional. */
export function LimitFields({
  value,
  onChange,
}: {
  value: Limits;
  onChange: (change: Partial<Limits>) => void;
}) {
  return (
    <div class="faults-fields">
      <Field label="Over after (requests)">
        <input
          class="input"
          inputMode="numeric"
          placeholder="never"
          value={value.times}
          onInput={(event) => onChange({ times: event.currentTarget.value })}
        />
      </Field>
      <Field label="Part of them (%)">
        <input
          class="input"
          inputMode="decimal"
          placeholder="100"
          value={value.rate}
          onInput={(event) => onChange({ rate: event.currentTarget.value })}
        />
      </Field>
      <Field label="For how long">
        <input
          class="input"
          placeholder="until cleared"
          value={value.duration}
          onInput={(event) => onChange({ duration: event.currentTarget.value })}
        />
      </Field>
    </div>
  );
}
