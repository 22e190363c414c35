import { useSignal } from "@preact/signals";
import { info } from "../../app/sim.ts";
import { Button, Code, Field } from "../../parts/basics.tsx";
import { plain } from "../../parts/text.ts";
import { TextInput } from "../../parts/text-input.tsx";
import { LimitFields } from "./limit-fields.tsx";
import { emptyForm, type FaultForm, type FaultKind, kindRow, kinds, orderOf } from "./order.ts";

/** Groups of endpoints that have a name; a path goes, too. */
const routes = ["capture", "flags", "service", "sdk", "management"];

/** A fault put together field by field; the order that comes of it is shown, to be used in tests. */
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
      class="faults-form"
      onSubmit={(event) => {
        event.preventDefault();
        onApply(order);
      }}
    >
      <div class="faults-fields">
        <Field label="What goes wrong">
          <select
            class="select"
            value={kind}
            onChange={(event) => set({ kind: event.currentTarget.value as FaultKind, value: "" })}
          >
            {Object.entries(kinds).map(([id, { label }]) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        {row.value && (
          <Field label={row.value.label}>
            <TextInput placeholder={row.value.usual} value={value} onText={(text) => set({ value: text })} />
          </Field>
        )}
        <Field label="Which requests">
          <TextInput
            list="fault-routes"
            placeholder="all, or /batch/, /api/*"
            value={route}
            onText={(text) => set({ route: text })}
          />
        </Field>
        <datalist id="fault-routes">
          {routes.map((it) => (
            <option key={it} value={it} />
          ))}
        </datalist>
        <Field label="Of project">
          <select
            class="select"
            value={project}
            onChange={(event) => set({ project: event.currentTarget.value })}
          >
            <option value="">all</option>
            {info.value?.projects.map((it) => (
              <option key={it.id} value={it.id}>
                {plain(it.name)}
              </option>
            ))}
          </select>
        </Field>
      </div>
      <LimitFields value={form.value} onChange={set} />
      <Code label="The same in a test" text={`await sim.faults.apply(${JSON.stringify(order)})`} />
      <Button kind="main" type="submit">
        Apply the rule
      </Button>
    </form>
  );
}
