import { valueText } from "../../../src/state/journal/filter/print.ts";

/** Values of the form, as text. */
export interface FaultForm {
  readonly kind: FaultKind;
  readonly value: string;
  /** By names of `matchFields`. */
  readonly match: Readonly<Record<string, string>>;
  readonly project: string;
  readonly limits: Limits;
}

/** Texts of `limitFields`, by name. */
export type Limits = Readonly<Record<string, string>>;

interface KindRow {
  readonly label: string;
  /** The field of its value, if it has one. */
  readonly value?: { readonly label: string; readonly usual: string };
  effect(value: string): Record<string, unknown>;
}

/** Text that is not a number is sent as it is: the sim explains the mistake. */
const numberIn = (text: string, scale = 1): number | string => {
  const value = Number(text) / scale;
  return Number.isFinite(value) ? value : text.trim();
};

const numberOr = (text: string, otherwise: number): number | string =>
  text.trim() === "" ? otherwise : numberIn(text);

/** Kinds of faults. */
export const kinds = {
  status: {
    label: "Respond with a status",
    value: { label: "Status", usual: "503" },
    effect: (value) => ({ status: numberOr(value, 503) }),
  },
  latency: {
    label: "Delay the response",
    value: { label: "Delay", usual: "2s" },
    effect: (value) => ({ latency: value.trim() || "2s" }),
  },
  reset: { label: "Reset the connection", effect: () => ({ socket: "reset" }) },
  hang: { label: "Never respond", effect: () => ({ socket: "hang" }) },
  garbage: { label: "Respond with invalid JSON", effect: () => ({ body: "garbage" }) },
  truncate: { label: "Cut off the response", effect: () => ({ body: "truncate" }) },
  lost: { label: "Handle the request, lose the response", effect: () => ({ socket: "reset", after: true }) },
  flags: {
    label: "Fail to compute flags",
    value: { label: "Flags, separated by commas", usual: "every second flag" },
    effect: (value) => ({
      flags:
        value.trim() === ""
          ? "partial"
          : value
              .split(",")
              .map((it) => it.trim())
              .filter((it) => it !== ""),
    }),
  },
  quota: { label: "Exceed the quota", effect: () => ({ quota: ["events", "recordings", "feature_flags"] }) },
} as const satisfies Record<string, KindRow>;

export type FaultKind = keyof typeof kinds;

interface MatchField {
  /** Its key in `match`. */
  readonly name: string;
  readonly label: string;
  readonly usual: string;
  readonly suggested?: readonly string[];
}

/** Text fields for the requests that a fault affects. */
export const matchFields: readonly MatchField[] = [
  {
    name: "route",
    label: "Requests",
    usual: "all, or /batch/, /api/*",
    suggested: ["capture", "flags", "service", "sdk", "management"],
  },
];

export const kindRow = (kind: FaultKind): KindRow => kinds[kind];

interface LimitField {
  /** Its key in the order. */
  readonly name: string;
  readonly label: string;
  readonly usual: string;
  readonly inputMode?: "numeric" | "decimal";
  value(text: string): number | string;
}

/** Text fields that presets have as well. */
export const limitFields: readonly LimitField[] = [
  { name: "times", label: "Limit (requests)", usual: "none", inputMode: "numeric", value: (text) => numberIn(text) },
  {
    name: "rate",
    label: "Share of requests (%)",
    usual: "100",
    inputMode: "decimal",
    value: (text) => numberIn(text, 100),
  },
  { name: "duration", label: "Duration", usual: "until cleared", value: (text) => text.trim() },
];

export const emptyForm: FaultForm = { kind: "status", value: "", match: {}, project: "", limits: {} };

/** A filter of the requests that a fault changed. */
export const touchedBy = (name: string): string => `fault:${valueText(name)}`;

export const limitsOf = (limits: Limits): Record<string, number | string> =>
  Object.fromEntries(
    limitFields.flatMap(({ name, value }) => {
      const text = limits[name] ?? "";
      return text.trim() === "" ? [] : [[name, value(text)]];
    }),
  );

/** Body of POST /__sim/faults. */
export function orderOf(form: FaultForm): Record<string, unknown> {
  const match = {
    ...Object.fromEntries(
      Object.entries(form.match).flatMap(([name, text]) => (text.trim() === "" ? [] : [[name, text.trim()]])),
    ),
    ...(form.project !== "" && { project: Number(form.project) }),
  };
  const { effect } = kindRow(form.kind);
  return { effect: effect(form.value), ...(Object.keys(match).length > 0 && { match }), ...limitsOf(form.limits) };
}
