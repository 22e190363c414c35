import { Field } from "../../parts/basics.tsx";
import { TextInput } from "../../parts/text-input.tsx";
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
        <TextInput
          inputMode="numeric"
          placeholder="never"
          value={value.times}
          onText={(text) => onChange({ times: text })}
        />
      </Field>
      <Field label="Part of them (%)">
        <TextInput
          inputMode="decimal"
          placeholder="100"
          value={value.rate}
          onText={(text) => onChange({ rate: text })}
        />
      </Field>
      <Field label="For how long">
        <TextInput
          placeholder="until cleared"
          value={value.duration}
          onText={(text) => onChange({ duration: text })}
        />
      </Field>
    </div>
  );
}
