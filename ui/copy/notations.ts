import { hidden, json, type Notation, units, type Written, written } from "./quote.ts";

/** Python reads `\ud83d\ude00` as two characters: one beyond the first plane has its own escape. */
const pythonEscape = (character: string): string =>
  character.length === 1
    ? units(character)
    : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;

/** A text in double quotes, as Python and YAML read it. */
const quotedPython = (text: string): string => JSON.stringify(text).replace(hidden, pythonEscape);

const python: Notation = {
  text: quotedPython,
  key: quotedPython,
  words: { true: "True", false: "False", null: "None" },
  pad: "",
  lastComma: ",",
};

const yaml: Notation = { ...json, text: quotedPython, key: quotedPython };

/** A value as YAML, in its flow style. */
export const yamlText = (value: Written, indent = 0): string =>
  written(value, { notation: yaml, indent, step: 2 });

/** A value as Python. */
export const pythonText = (value: Written, indent = 0): string =>
  written(value, { notation: python, indent, step: 4 });
