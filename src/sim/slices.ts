import { clearTimeout, setTimeout } from "../kernel/base/real-time.ts";
import { type GuardRules, guarded } from "../kernel/http/control-access.ts";
import { isControlPath } from "../kernel/http/family.ts";
import type { LateRows, Router } from "../kernel/http/router.ts";
import { rowsOf, type Slice } from "../kernel/http/slice.ts";
import { captureSlice } from "../service/capture/endpoint/capture.ts";
import type { OpenedPorts, ReadyPorts, SlicePorts } from "./ports.ts";

/** What the first event needs, in the order of the OpenAPI document, as all slices. */
export const slicesAtStart: readonly Slice<ReadyPorts>[] = [captureSlice];

interface LateSlices extends Pick<LateRows, "owns"> {
  load(): Promise<readonly Slice<SlicePorts>[]>;
}

/** The other slices, by when they are loaded: for the first request to a path that they may have. */
const lateSlices: readonly LateSlices[] = [
  { owns: (path) => !isControlPath(path), load: async () => (await import("./public-slices.ts")).publicSlices },
  {
    owns: (path) => /^\/(api|shared|shared_dashboard|embedded)\//.test(path),
    load: async () => [(await import("../service/management/rows.ts")).managementSlice],
  },
  {
    owns: (path) => /^\/__sim\/(?:contacts|events|feed|projects|requests|settle|ws)(?:\/|$)/.test(path),
    load: async () => (await import("./assertion-slices.ts")).assertionSlices,
  },
  { owns: isControlPath, load: async () => (await import("./control-slices.ts")).controlSlices },
];

async function portsOf(
  slices: readonly Slice<SlicePorts>[],
  ready: ReadyPorts,
  opening: OpenedPorts,
): Promise<SlicePorts> {
  const names = new Set<string>(slices.flatMap(({ needs }) => needs));
  const named = Object.entries(opening).filter(([name]) => names.has(name));
  const opened = await Promise.all(named.map(async ([name, open]) => [name, await open()]));
  return { ...ready, ...Object.fromEntries(opened) };
}

export const lateRows = (ready: ReadyPorts, opening: OpenedPorts, rules: GuardRules): LateRows[] =>
  lateSlices.map(({ owns, load }) => ({
    owns,
    async load() {
      const slices = await load();
      return guarded(rowsOf(slices, await portsOf(slices, ready, opening)), rules);
    },
  }));

const warmUpDelay = 250;

/** The first flag request need not load, and what is due needs no request. Returns what ends it, resolved once nothing loads. */
export function warmUp(router: Router, wakeExports: () => void): () => Promise<void> {
  let warming = Promise.resolve();
  const timer = setTimeout(() => {
    // the first request for it gets the error
    warming = router.warm("/flags").catch(() => {});
    wakeExports();
  }, warmUpDelay).unref();
  return () => {
    clearTimeout(timer);
    return warming;
  };
}
