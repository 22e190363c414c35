import type { Recording } from "./shape.ts";

/** What the form of a tape to be loaded says. */
export interface LoadForm {
  readonly tape: string;
  readonly mode: string;
  readonly onMiss: string;
  readonly timing: string;
}

export const emptyLoad: LoadForm = { tape: "", mode: "replay", onMiss: "", timing: "" };

const given = (pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries(pairs.filter(([, value]) => value !== "" && value !== undefined));

/** The body of POST /__sim/tapes: what is left empty goes by the mode. */
export const loadOrder = ({ tape, mode, onMiss, timing }: LoadForm): Record<string, unknown> =>
  given([
    ["tape", tape.trim()],
    ["mode", mode],
    ["on_miss", onMiss],
    ["timing", timing.trim()],
  ]);

/** What the form of a recording says. */
export interface RecordForm {
  readonly upstream: string;
  readonly mode: NonNullable<Recording["mode"]>;
  readonly tape: string;
  readonly redact: string;
  /** Globs, with spaces or commas between. */
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

/** The body of POST /__sim/recording/start. */
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
