import type { Decision } from "../flags/decision.ts";
import type { Result as Decided } from "../flags/ruleset.ts";
import type { ConditionAnalysis } from "./flags-analysis.ts";

/** What one flag came to, and how, if the request wants to know. */
export interface Result extends Decided {
  readonly conditions?: readonly ConditionAnalysis[] | undefined;
}

/** Writes results as members of a JSON object, without its braces. */
export type Shape = (results: readonly Result[]) => string;

/** Encrypted payloads are only for the remote config endpoint. */
export const redacted = '"********* (encrypted)"';

const keyOf = ({ compiled }: Result): string => JSON.stringify(compiled.flag.key);
const isOn = ({ decision }: Result): boolean => decision.enabled;
/**
 * In the shapes without `failed`, a flag that failed is false, as upstream has it; one that only the sim
 * cannot compute is left out: clients keep what they had.
 */
const isKnown = ({ decision }: Result): boolean =>
  !decision.failed || !decision.reason.code.startsWith("unsupported_");

const payloadOf = ({ compiled, decision }: Result): string | null =>
  decision.payload !== null && compiled.flag.has_encrypted_payloads ? redacted : decision.payload;

const members = (results: readonly Result[], value: (result: Result) => string): string =>
  `{${results.map((result) => `${keyOf(result)}:${value(result)}`).join()}}`;

const valueText = ({ decision }: Result): string => JSON.stringify(decision.value);

const list: Shape = (results) => `"featureFlags":[${results.filter(isOn).map(keyOf).join()}]`;

const switchedOn: Shape = (results) => `"featureFlags":${members(results.filter(isOn), valueText)}`;

function errors(results: readonly Result[]): string {
  return `"errorsWhileComputingFlags":${results.some((result) => result.decision.failed)}`;
}

const values: Shape = (results) => {
  const paid = results.filter((result) => payloadOf(result) !== null);
  const payloads = members(paid, (result) => JSON.stringify(payloadOf(result)));
  const flags = members(results.filter(isKnown), valueText);
  return `"featureFlags":${flags},"featureFlagPayloads":${payloads},${errors(results)}`;
};

/** Every key is there, whatever its value: some SDKs rely on it. */
function detailText(result: Result): string {
  const { compiled, decision } = result;
  const { flag } = compiled;
  return JSON.stringify({
    key: flag.key,
    enabled: decision.enabled,
    variant: decision.variant,
    ...(decision.failed && { failed: true }),
    reason: {
      code: decision.reason.code,
      condition_index: decision.condition_index,
      description: decision.reason.description,
    },
    metadata: {
      id: flag.id,
      version: flag.version,
      description: null,
      payload: payloadOf(result),
      has_experiment: false,
    },
    ...(result.conditions && { conditions: result.conditions }),
  });
}

/** A flag has few decisions and hands out the same ones, so each is written once. */
function detailsShape(): Shape {
  const written = new WeakMap<Decision, string>();
  const entry = (result: Result): string => {
    const known = result.conditions ? undefined : written.get(result.decision);
    if (known !== undefined) return known;
    const text = `${keyOf(result)}:${detailText(result)}`;
    if (!result.conditions) written.set(result.decision, text);
    return text;
  };
  return (results) => {
    let text = "";
    for (const result of results) text += text === "" ? entry(result) : `,${entry(result)}`;
    return `"flags":{${text}},${errors(results)}`;
  };
}

export type Shapes = Readonly<Record<"list" | "switchedOn" | "values" | "details", Shape>>;

export const createShapes = (): Shapes => ({ list, switchedOn, values, details: detailsShape() });

/**
 * Which shape an endpoint's version has; undefined is a version that is missing or no number.
 * Upstream PostHog rust/feature-flags, api/endpoint.
 */
export function shapeOf(isDecide: boolean, version: number | undefined): keyof Shapes {
  if (!isDecide) return version !== undefined && version >= 2 ? "details" : "values";
  if (version === undefined || version < 2) return "list";
  return version === 2 ? "switchedOn" : version === 3 ? "values" : "details";
}
