import type { ComponentChildren, JSX } from "preact";

/** A label above a control. */
export function Field({ label, hint, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label class="field">
      <span class="small muted">{label}</span>
      {children}
      {hint !== undefined && <span class="field-hint small">{hint}</span>}
    </label>
  );
}

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  children: ComponentChildren;
}

type TextInputProps = Omit<JSX.IntrinsicElements["input"], "class" | "value" | "onInput"> & {
  value: string;
  onText(text: string): void;
};

export function TextInput({ onText, ...rest }: TextInputProps) {
  return <input class="input" {...rest} onInput={(event) => onText(event.currentTarget.value)} />;
}

export function TextField({ label, hint, ...input }: TextInputProps & Pick<FieldProps, "label" | "hint">) {
  return (
    <Field label={label} hint={hint}>
      <TextInput {...input} />
    </Field>
  );
}

interface SelectFieldProps {
  label: string;
  value: string | number;
  /** Values, or values and their texts. */
  options: readonly (string | readonly [value: string | number, text: string])[];
  onText(value: string): void;
}

export function SelectField({ label, value, options, onText }: SelectFieldProps) {
  return (
    <Field label={label}>
      <select class="select" value={value} onChange={(event) => onText(event.currentTarget.value)}>
        {options.map((it) => {
          const [option, text] = typeof it === "string" ? [it, it] : it;
          return (
            <option key={option} value={option}>
              {text}
            </option>
          );
        })}
      </select>
    </Field>
  );
}

interface CheckFieldProps {
  label: ComponentChildren;
  title?: string;
  isChecked: boolean;
  onChange(isChecked: boolean): void;
}

/** A switch with its label beside it. */
export function CheckField({ label, title, isChecked, onChange }: CheckFieldProps) {
  return (
    <label class="switch" title={title}>
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
