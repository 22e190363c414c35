import { useState } from "preact/hooks";
import type { FlagOverride as Override } from "../../../src/service/flags/shapes.ts";
import { call, query } from "../../api/call.ts";
import { useAction } from "../../app/use-action.ts";
import { Badge, Button, Section, Trouble } from "../../parts/basics.tsx";
import { Field, TextField, TextInput } from "../../parts/fields.tsx";
import { valueText, valueTone } from "../../parts/flag-trace/trace-words.ts";
import { plain } from "../../parts/text.ts";
import { type OverrideForm, otherValue, readOverride, valueChoices } from "./forms.ts";

/** The key to override; the flag may not exist. */
interface OverrideTarget {
  readonly project: number | undefined;
  readonly key: string;
  readonly variants: readonly string[];
  readonly overrides: readonly Override[];
}

const pathOf = ({ key }: OverrideTarget): string => `flags/${encodeURIComponent(key)}`;

const emptyForm: OverrideForm = { choice: "", other: "", distinctId: "", payload: "" };

type Mistakes = Readonly<Partial<Record<keyof OverrideForm, string>>>;

/** Overrides of a flag: set, list, remove. */
export function OverridesTab({ target, onChange }: { target: OverrideTarget; onChange(): void }) {
  const { problem, run } = useAction();
  const act = (change: Promise<unknown>) => run(change, onChange);
  const { project, overrides } = target;
  const removeAll = () => act(call("DELETE", `${pathOf(target)}${query({ project })}`));
  return (
    <>
      <Section title="Override">
        <Editor
          target={target}
          onSet={(body) => act(call("PUT", pathOf(target), { ...body, ...(project !== undefined && { project }) }))}
        />
        {problem && <Trouble problem={problem} />}
      </Section>
      <Section
        title="Active overrides"
        actions={overrides.length > 1 && <Button onClick={removeAll}>Remove all</Button>}
      >
        {overrides.length === 0 ? (
          <p class="muted">None: the rules apply. An override lasts until it is removed or the sim is reset.</p>
        ) : (
          <ul class="stack stack-tight">
            {overrides.map((it) => (
              <OverrideRow
                key={it.distinct_id === null ? "" : `of ${it.distinct_id}`}
                override={it}
                onRemove={() => act(call("DELETE", `${pathOf(target)}${subjectQuery(it)}`))}
              />
            ))}
          </ul>
        )}
      </Section>
    </>
  );
}

const subjectQuery = ({ project, distinct_id }: Override): string =>
  distinct_id === null ? query({ project, for: "everybody" }) : query({ project, distinct_id });

function OverrideRow({ override, onRemove }: { override: Override; onRemove(): void }) {
  const { value, distinct_id, payload } = override;
  const subject = distinct_id === null ? "all users" : plain(distinct_id, 100);
  return (
    <li class="row row-wide">
      <Badge tone={valueTone(value)}>{valueText(value)}</Badge>
      <span>
        for <strong>{subject}</strong>
        {payload !== null && value !== false && (
          <>
            , payload <code>{plain(JSON.stringify(payload), 200)}</code>
          </>
        )}
      </span>
      <Button class="end" onClick={onRemove} aria-label={`Remove the override for ${subject}`}>
        Remove
      </Button>
    </li>
  );
}

function Editor({ target, onSet }: { target: OverrideTarget; onSet(body: object): Promise<void> }) {
  const [form, setForm] = useState(emptyForm);
  const [mistakes, setMistakes] = useState<Mistakes>({});
  const set = (change: Partial<OverrideForm>) => setForm((it) => ({ ...it, ...change }));
  const submit = (event: Event) => {
    event.preventDefault();
    const read = readOverride(form, target.variants);
    setMistakes("mistakes" in read ? read.mistakes : {});
    if ("body" in read) void onSet(read.body);
  };
  return (
    <form class="flags-form" onSubmit={submit}>
      <Values form={form} set={set} variants={target.variants} mistakes={mistakes} />
      <TextField
        label="For"
        hint="A distinct id, or empty for all users. An override for one id takes precedence."
        autocomplete="off"
        spellcheck={false}
        placeholder="all users"
        value={form.distinctId}
        onText={(text) => set({ distinctId: text })}
      />
      <Field label="Payload" hint={mistakes.payload ?? "JSON; empty for the flag's own"}>
        <textarea
          class="input"
          rows={2}
          placeholder='{"color": "teal"}'
          value={form.payload}
          aria-invalid={mistakes.payload !== undefined}
          onInput={(event) => set({ payload: event.currentTarget.value })}
        />
      </Field>
      <div class="row flags-form-end">
        <Button type="submit" kind="main">
          Set override
        </Button>
      </div>
    </form>
  );
}

function Values({ form, set, variants, mistakes }: ValuesProps) {
  const choices = [
    ...valueChoices(variants),
    { id: otherValue, label: variants.length > 0 ? "another variant" : "a variant" },
  ];
  return (
    <fieldset class="row row-wide flags-values">
      <legend class="small muted">Value</legend>
      {choices.map(({ id, label }) => (
        <label key={id} class="row row-tight flags-value">
          <input type="radio" name="value" checked={form.choice === id} onChange={() => set({ choice: id })} />
          {plain(label, 60)}
        </label>
      ))}
      {form.choice === otherValue && (
        <TextInput
          aria-label="The variant's key"
          aria-invalid={mistakes.other !== undefined}
          value={form.other}
          onText={(text) => set({ other: text })}
        />
      )}
      {(mistakes.choice ?? mistakes.other) !== undefined && (
        <span class="field-hint bad" role="alert">
          {mistakes.choice ?? mistakes.other}
        </span>
      )}
    </fieldset>
  );
}

interface ValuesProps {
  form: OverrideForm;
  set(change: Partial<OverrideForm>): void;
  variants: readonly string[];
  mistakes: Mistakes;
}
