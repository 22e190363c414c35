import { useEffect, useState } from "preact/hooks";
import type { FlagSummary as Flag } from "../../../src/service/flags/shapes.ts";
import { useExplanation } from "../../api/explanation.ts";
import { go, route, withParams } from "../../app/location.ts";
import { worldRevision } from "../../app/sim.ts";
import { Button, Section, Trouble } from "../../parts/basics.tsx";
import { Field, TextField } from "../../parts/fields.tsx";
import { Trace } from "../../parts/flag-trace/trace.tsx";
import { objectFields, readSubject, textFields } from "./forms.ts";

const names = ["distinct_id", ...objectFields.map(({ name }) => name), ...textFields.map(({ name }) => name)];

const isMoreGiven = (params: Readonly<Record<string, string>>): boolean =>
  names.some((name) => name !== "distinct_id" && params[name]);

const fieldsIn = (params: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, params[name] ?? ""]));

/** Explains a flag for a subject, which is part of the address. */
export function ExplainTab({ flag }: { flag: Flag }) {
  const { params } = route.value;
  const [form, setForm] = useState(fieldsIn(params));
  const inAddress = JSON.stringify(fieldsIn(params));
  // follows the browser history
  useEffect(() => setForm(JSON.parse(inAddress)), [inAddress]);
  const [mistakes, setMistakes] = useState<Readonly<Record<string, string>>>({});
  const read = readSubject(params);
  const tried = read && "mistakes" in read ? { ...read.mistakes, ...mistakes } : mistakes;
  const subject = read && "body" in read ? { ...read.body, project: flag.project } : undefined;
  const { explanation, problem } = useExplanation(flag.key, subject, worldRevision.value);
  const submit = (event: Event) => {
    event.preventDefault();
    const given = readSubject(form);
    const found =
      given === undefined ? { distinct_id: "Enter a distinct id" } : "mistakes" in given ? given.mistakes : {};
    setMistakes(found);
    if (Object.keys(found).length === 0) go(withParams(form));
  };
  const set = (name: string, text: string) => setForm((it) => ({ ...it, [name]: text }));
  return (
    <>
      <Section title="Explain for a subject">
        <form class="flags-form" onSubmit={submit}>
          <SubjectField name="distinct_id" label="Distinct id" form={form} tried={tried} set={set} />
          <div class="row flags-form-end">
            <Button type="submit" kind="main">
              Explain
            </Button>
          </div>
          <details class="flags-more" open={isMoreGiven(params) || undefined}>
            <summary class="muted">Properties, groups, device</summary>
            <p class="muted">These values override stored ones. Nothing is stored.</p>
            <div class="flags-form">
              {objectFields.map(({ name, label, example }) => (
                <Field key={name} label={label} hint={tried[name]}>
                  <textarea
                    class="input"
                    rows={2}
                    placeholder={example}
                    value={form[name]}
                    aria-invalid={tried[name] !== undefined}
                    onInput={(event) => set(name, event.currentTarget.value)}
                  />
                </Field>
              ))}
              {textFields.map(({ name, label }) => (
                <SubjectField key={name} name={name} label={label} form={form} tried={tried} set={set} />
              ))}
            </div>
          </details>
        </form>
      </Section>
      {problem && <Trouble problem={problem} />}
      {explanation && (
        <Section title="The trace">
          <div aria-live="polite">
            <Trace explanation={explanation} sentences={flag.words?.sets ?? []} />
          </div>
        </Section>
      )}
    </>
  );
}

function SubjectField({ name, label, form, tried, set }: SubjectFieldProps) {
  return (
    <TextField
      label={label}
      hint={tried[name]}
      autocomplete="off"
      spellcheck={false}
      value={form[name] ?? ""}
      aria-invalid={tried[name] !== undefined}
      onText={(text) => set(name, text)}
    />
  );
}

interface SubjectFieldProps {
  name: string;
  label: string;
  form: Readonly<Record<string, string>>;
  tried: Readonly<Record<string, string>>;
  set(name: string, text: string): void;
}
