import { createAnswers } from "../lab/faults/answers.ts";
import { createFaults } from "../lab/faults/rules.ts";
import { offlineBy, Recordings } from "../lab/tapes/record/recordings.ts";
import { missWays, Replaying } from "../lab/tapes/replay/replaying.ts";
import type { CallOwners } from "../service/capture/call-owner.ts";
import type { Foundation, SimSettings } from "./foundation.ts";
import type { LateParts } from "./late.ts";
import { tapesOrExplain } from "./opening.ts";

export type Substitutes = Awaited<ReturnType<typeof openSubstitutes>>;

/** What can answer instead of the handlers. @throws StartError */
export async function openSubstitutes(
  { options, redaction, notice }: SimSettings,
  { scenario, clock, gauge, ending, store }: Foundation,
  owners: CallOwners,
  { app, router, address, adopts }: LateParts,
) {
  const faults = createFaults({ clock, onChange: notice });
  faults.replace(scenario.current.faults ?? []);
  const replaying = new Replaying({
    redaction,
    owner: (call) => owners.owner(call, true),
    notice,
    ...missWays(options, redaction, ending.signal, () => address().port, notice),
  });
  const recordings = new Recordings({
    redaction,
    app,
    clock,
    gauge,
    notice,
    knows: async (path) => (router().exact(path) ?? (await router().search(path))) !== undefined,
    offline: offlineBy(options),
    folders: [process.cwd(), ...(store.folder === null ? [] : [store.folder])],
    upstreamCa: options.upstreamCa,
  });
  // What was recorded has keys of another world.
  adopts.set(() => options.adoptTokens === true || replaying.active || recordings.isOn);
  await tapesOrExplain(replaying.loadOwn(options), store);
  return { faults, answers: createAnswers(), replaying, recordings };
}
