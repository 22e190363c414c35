import { useSignal } from "@preact/signals";
import { info } from "../../app/sim.ts";
import { Button, Code } from "../../parts/basics.tsx";
import { SelectField, TextField } from "../../parts/fields.tsx";
import { plain } from "../../parts/text.ts";
import { emptyForm, type FaultForm, type FaultKind, kindRow, kinds, type Limits, orderOf } from "./order.ts";

/** Optional limits: how often, and for how long. */
export function LimitFields({ value, onChange }: LimitFieldsProps) {
  return (
    <div class="fields">
      <TextField
        label="Over after (requests)"
        inputMode="numeric"
        placeholder="never"
        value={value.times}
        onText={(times) => onChange({ times })}
      />
      <TextField
        label="Part of them (%)"
        inputMode="decimal"
        placeholder="100"
        value={value.rate}
        onText={(rate) => onChange({ rate })}
      />
      <TextField
        label="For how long"
        placeholder="until cleared"
        value={value.duration}
        onText={(duration) => onChange({ duration })}
      />
    </div>
  );
}

interface LimitFieldsProps {
  value: Limits;
  onChange(change: Partial<Limits>): void;
}

/** Named groups of endpoints; a path is possible, too. */
const routes = ["capture", "flags", "service", "sdk", "management"];

/** A form for a fault, and the same fault as code for a test. */
export function RuleForm({ onApply }: { onApply: (order: Record<string, unknown>) => void }) {
  const form = useSignal<FaultForm>(emptyForm);
  const set = (change: Partial<FaultForm>) => {
    form.value = { ...form.value, ...change };
  };
  const { kind, value, route, project } = form.value;
  const row = kindRow(kind);
  const order = orderOf(form.value);
  return (
    <form
      class="stack stack-wide faults-form"
      onSubmit={(event) => {
        event.preventDefault();
        onApply(order);
      }}
    >
      <div class="fields">
        <SelectField
          label="What goes wrong"
          value={kind}
          options={Object.entries(kinds).map(([id, { label }]) => [id, label])}
          onText={(id) => set({ kind: id as FaultKind, value: "" })}
        />
        {row.value && (
          <TextField
            label={row.value.label}
            placeholder={row.value.usual}
            value={value}
            onText={(text) => set({ value: text })}
          />
        )}
        <TextField
          label="Which requests"
          list="fault-routes"
          placeholder="all, or /batch/, /api/*"
          value={route}
          onText={(text) => set({ route: text })}
        />
        <datalist id="fault-routes">
          {routes.map((it) => (
            <option key={it} value={it} />
          ))}
        </datalist>
        <SelectField
          label="Of project"
          value={project}
          options={[
            ["", "all"],
            ...(info.value?.projects.map((it) => [it.id, plain(it.name)] as const) ?? []),
          ]}
          onText={(id) => set({ project: id })}
        />
      </div>
      <LimitFields value={form.value} onChange={set} />
      <Code label="The same in a test" text={`await sim.faults.apply(${JSON.stringify(order)})`} />
      <Button kind="main" type="submit">
        Apply the rule
      </Button>
    </form>
  );
}
