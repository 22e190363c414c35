import type { JSX } from "preact";

type TextInputProps = Omit<JSX.IntrinsicElements["input"], "class" | "value" | "onInput"> & {
  value: string;
  /** Told of every change. */
  onText(text: string): void;
};

/** A field for a line of text. */
export function TextInput({ onText, ...rest }: TextInputProps) {
  return <input class="input" {...rest} onInput={(event) => onText(event.currentTarget.value)} />;
}
