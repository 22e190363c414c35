import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { info } from "../../app/sim.ts";
import { Button, Code } from "../../parts/basics.tsx";
import { SelectField, TextField } from "../../parts/fields.tsx";
import { plain } from "../../parts/text.ts";
import {
  emptyForm,
  type FaultForm,
  type FaultKind,
  kindRow,
  kinds,
  type Limits,
  limitFields,
  matchFields,
  orderOf,
} from "./order.ts";

/** Optional limits: how often, and for how long. */
export function LimitFields({ value, onChange }: LimitFieldsProps) {
  return (
    <div class="fields">
      {limitFields.map(({ name, label, usual, inputMode }) => (
        <TextField
          key={name}
          label={label}
          inputMode={inputMode}
          placeholder={usual}
          value={value[name] ?? ""}
          onText={(text) => onChange({ ...value, [name]: text })}
        />
      ))}
    </div>
  );
}

interface LimitFieldsProps {
  value: Limits;
  onChange(limits: Limits): void;
}

/** A form for a fault, and the same fault as code for a test. */
export function RuleForm({ onApply }: { onApply: (order: Record<string, unknown>) => void }) {
  const form = useSignal<FaultForm>(emptyForm);
  const set = (change: Partial<FaultForm>) => {
    form.value = { ...form.value, ...change };
  };
  const { kind, value, match, project } = form.value;
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
          label="Effect"
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
        {matchFields.map(({ name, label, usual, suggested }) => (
          <Fragment key={name}>
            <TextField
              label={label}
              list={suggested && `fault-${name}`}
              placeholder={usual}
              value={match[name] ?? ""}
              onText={(text) => set({ match: { ...match, [name]: text } })}
            />
            {suggested && (
              <datalist id={`fault-${name}`}>
                {suggested.map((it) => (
                  <option key={it} value={it} />
                ))}
              </datalist>
            )}
          </Fragment>
        ))}
        <SelectField
          label="Project"
          value={project}
          options={[["", "all"], ...(info.value?.projects.map((it) => [it.id, plain(it.name)] as const) ?? [])]}
          onText={(id) => set({ project: id })}
        />
      </div>
      <LimitFields value={form.value.limits} onChange={(limits) => set({ limits })} />
      <Code label="The same in a test" text={`await sim.faults.apply(${JSON.stringify(order)})`} />
      <Button kind="main" type="submit">
        Apply the fault
      </Button>
    </form>
  );
}
