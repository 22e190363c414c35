import { isObject, type Json, type JsonObject } from "../../../src/kernel/base/json.ts";
import type { FlagValue } from "../../parts/flag-trace/trace-words.ts";

/** A parsed field, or its mistake. */
type Read<T> = { readonly value: T } | { readonly mistake: string };

export const isMistake = <T>(read: Read<T>): read is { readonly mistake: string } => "mistake" in read;

function parsed(text: string): Read<Json> {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { mistake: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Parses a field with an object; undefined if empty. */
export function readObject(text: string): Read<JsonObject | undefined> {
  if (text.trim() === "") return { value: undefined };
  const read = parsed(text);
  if (isMistake(read)) return read;
  return isObject(read.value) ? { value: read.value } : { mistake: 'This must be an object, e.g. {"plan": "pro"}' };
}

/** Parses any JSON; null if empty. */
export const readPayload = (text: string): Read<Json> => (text.trim() === "" ? { value: null } : parsed(text));

/** A choice of an override's value. Variants have ids by index, as one may be called "true". */
interface ValueChoice {
  readonly id: string;
  readonly label: string;
  readonly value: FlagValue;
}

export const valueChoices = (variants: readonly string[]): ValueChoice[] => [
  ...(variants.length === 0 ? [{ id: "true", label: "true: on", value: true }] : []),
  ...variants.map((variant, i) => ({ id: `variant-${i}`, label: `"${variant}"`, value: variant })),
  ...(variants.length > 0 ? [{ id: "true", label: "true: on, no variant", value: true }] : []),
  { id: "false", label: "false: off", value: false },
];

/** Id of "another variant": its key is typed. */
export const otherValue = "other";

export interface OverrideForm {
  readonly choice: string;
  readonly other: string;
  readonly distinctId: string;
  readonly payload: string;
}

/** The body of an override, or mistakes by field. */
export function readOverride(
  form: OverrideForm,
  variants: readonly string[],
): { readonly body: JsonObject } | { readonly mistakes: Readonly<Partial<Record<keyof OverrideForm, string>>> } {
  const payload = readPayload(form.payload);
  const isOther = form.choice === otherValue;
  const value = isOther ? form.other : valueChoices(variants).find(({ id }) => id === form.choice)?.value;
  const mistakes = {
    ...(isMistake(payload) && { payload: payload.mistake }),
    ...(value === false && form.payload.trim() !== "" && { payload: "A flag that is off has no payload" }),
    ...(isOther && form.other === "" && { other: "Enter the variant's key" }),
    ...(value === undefined && { choice: "Choose a value" }),
  };
  if (Object.keys(mistakes).length > 0 || isMistake(payload) || value === undefined) return { mistakes };
  return {
    body: {
      value,
      ...(payload.value !== null && { payload: payload.value }),
      ...(form.distinctId !== "" && { distinct_id: form.distinctId }),
      ...(isOther && { force: true }),
    },
  };
}

/** Fields of an explanation that are objects; parameters of the address have the same names. */
export const objectFields = [
  { name: "person", label: "Person properties", example: '{"plan": "pro"}' },
  { name: "groups", label: "Groups", example: '{"company": "acme"}' },
  { name: "group_properties", label: "Group properties", example: '{"company": {"plan": "enterprise"}}' },
] as const;

export const textFields = [
  { name: "device_id", label: "Device id" },
  { name: "anon_distinct_id", label: "Anonymous id" },
] as const;

/** The body of an explanation from the address; undefined without a subject. */
export function readSubject(
  params: Readonly<Record<string, string>>,
): { readonly body: JsonObject } | { readonly mistakes: Readonly<Record<string, string>> } | undefined {
  const { distinct_id = "" } = params;
  if (distinct_id === "") return undefined;
  const body: JsonObject = { distinct_id };
  const mistakes: Record<string, string> = {};
  for (const { name } of objectFields) {
    const read = readObject(params[name] ?? "");
    if (isMistake(read)) mistakes[name] = read.mistake;
    else if (read.value) body[name] = read.value;
  }
  for (const { name } of textFields) {
    const text = params[name];
    if (text) body[name] = text;
  }
  return Object.keys(mistakes).length > 0 ? { mistakes } : { body };
}
