import type { RecordingFacts } from "../../../src/lab/tapes/shapes.ts";

export interface LoadForm {
  readonly tape: string;
  readonly onMiss: string;
  readonly timing: string;
}

export const emptyLoad: LoadForm = { tape: "", onMiss: "fail", timing: "" };

const given = (pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries(pairs.filter(([, value]) => value !== "" && value !== undefined));

/** Body of POST /__sim/tapes. */
export const loadOrder = ({ tape, onMiss, timing }: LoadForm): Record<string, unknown> =>
  given([
    ["tape", tape.trim()],
    ["on_miss", onMiss],
    ["timing", timing.trim()],
  ]);

export interface RecordForm {
  readonly upstream: string;
  readonly mode: NonNullable<RecordingFacts["mode"]>;
  readonly tape: string;
  readonly redact: string;
  readonly include: string;
  readonly exclude: string;
  readonly allowWrites: boolean;
}

export const emptyRecord: RecordForm = {
  upstream: "",
  mode: "record",
  tape: "",
  redact: "default",
  include: "",
  exclude: "",
  allowWrites: false,
};

const globsIn = (text: string): string[] | undefined => {
  const found = text.split(/[\s,]+/).filter((it) => it !== "");
  return found.length === 0 ? undefined : found;
};

/** Body of POST /__sim/recording/start. */
export const recordOrder = (form: RecordForm): Record<string, unknown> =>
  given([
    ["upstream", form.upstream.trim()],
    ["mode", form.mode],
    ["tape", form.tape.trim()],
    ["redact", form.redact],
    ["include", globsIn(form.include)],
    ["exclude", globsIn(form.exclude)],
    ["allow_writes", form.mode === "spy" && form.allowWrites ? true : undefined],
  ]);
