import type { JSX } from "preact";

type TextInputProps = Omit<JSX.IntrinsicElements["input"], "class" | "value" | "onInput"> & {
  value: string;
  onText(text: string): void;
};

/** A text input. */
export function TextInput({ onText, ...rest }: TextInputProps) {
  return <input class="input" {...rest} onInput={(event) => onText(event.currentTarget.value)} />;
}
