/** What answered a request, for people. */
export interface Source {
  readonly kind: "emulator" | "script" | "fault" | "tape" | "upstream" | "other";
  readonly text: string;
  /** More of it, as what follows a comma. */
  readonly note: string;
  /** Which exchange of which tape. */
  readonly tape?: { readonly name: string; readonly i: number };
}

/** What the row says of a source, and of the fault that touched the request. */
interface Answering {
  readonly source: string;
  readonly fault: string | null;
}

const tapeText = /^tape:(.+)#(\d+)$/;

const known: Readonly<Record<string, Omit<Source, "text">>> = {
  emulator: { kind: "emulator", note: "from its own world" },
  script: { kind: "script", note: "an answer that was scripted for this call" },
  upstream: {
    kind: "upstream",
    note: "the request was passed on, and this is what the real service answered",
  },
  proxy: { kind: "other", note: "the forward proxy" },
};

/** Reads what the answer's `x-phx-source` says: `emulator`, `fault`, `script`, `tape:NAME#12`, `upstream`. */
export function readSource({ source, fault }: Answering): Source {
  const [, name, i] = tapeText.exec(source) ?? [];
  if (name !== undefined && i !== undefined)
    return {
      kind: "tape",
      text: `tape ${name} #${i}`,
      note: "a recorded answer",
      tape: { name, i: Number(i) },
    };
  if (fault !== null)
    return {
      kind: "fault",
      text: `fault ${fault}`,
      note: "it touched the request or its answer, on purpose",
    };
  const found = Object.hasOwn(known, source) ? known[source] : undefined;
  if (found) return { ...found, text: source };
  if (source === "tape" || source.startsWith("tape:"))
    return { kind: "tape", text: source.replace(":", " "), note: "the tape in force" };
  return { kind: "other", text: source, note: "not the emulator" };
}

/** The source of a request that is told in full, as its row has it. */
export function sourceInFull(it: {
  readonly scripted: boolean;
  readonly fault: string | null;
  readonly source: string | null;
}): Answering {
  const source = it.scripted ? "script" : (it.source ?? (it.fault === null ? "emulator" : "fault"));
  return { source, fault: it.fault };
}
