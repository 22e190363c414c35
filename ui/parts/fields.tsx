import type { ComponentProps } from "preact";
import { Field } from "./basics.tsx";
import { TextInput } from "./text-input.tsx";

type TextFieldProps = ComponentProps<typeof TextInput> & Pick<ComponentProps<typeof Field>, "label" | "hint">;

/** A labelled text input. */
export function TextField({ label, hint, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint}>
      <TextInput {...input} />
    </Field>
  );
}

interface SelectFieldProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onText(value: string): void;
}

/** A labelled select. */
export function SelectField({ label, value, options, onText }: SelectFieldProps) {
  return (
    <Field label={label}>
      <select class="select" value={value} onChange={(event) => onText(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}
