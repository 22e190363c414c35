import { hidden, json, type Notation, units, type Written, written } from "./quote.ts";

/** Python reads `\ud83d\ude00` as two characters; characters beyond the first plane need `\U`. */
const pythonEscape = (character: string): string =>
  character.length === 1
    ? units(character)
    : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;

/** A quoted string for Python and YAML. */
const quotedPython = (text: string): string => JSON.stringify(text).replace(hidden, pythonEscape);

const python: Notation = {
  text: quotedPython,
  key: quotedPython,
  words: { true: "True", false: "False", null: "None" },
  pad: "",
  lastComma: ",",
};

const yaml: Notation = { ...json, text: quotedPython, key: quotedPython };

export const yamlText = (value: Written, indent = 0): string =>
  written(value, { notation: yaml, indent, step: 2 });

export const pythonText = (value: Written, indent = 0): string =>
  written(value, { notation: python, indent, step: 4 });
