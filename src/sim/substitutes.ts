import type { ObservingApp } from "../kernel/http/app.ts";
import type { Router } from "../kernel/http/router.ts";
import { createAnswers } from "../lab/faults/answers.ts";
import { createFaults } from "../lab/faults/rules.ts";
import { createRecordings, offlineBy } from "../lab/tapes/record/recordings.ts";
import { createReplaying, missWays } from "../lab/tapes/replay/replaying.ts";
import type { CallOwners } from "../service/capture/call-owner.ts";
import type { SimAddress } from "./address.ts";
import type { Foundation, SimSettings } from "./foundation.ts";
import type { Late } from "./late.ts";
import { tapesOrExplain } from "./opening.ts";

interface SubstituteParts {
  settings: SimSettings;
  foundation: Foundation;
  owners: CallOwners;
  app: () => ObservingApp;
  router: () => Router;
  address: () => SimAddress;
  adopts: Late<() => boolean>;
}

export type Substitutes = Awaited<ReturnType<typeof openSubstitutes>>;

/** What can answer instead of the handlers. @throws StartError */
export async function openSubstitutes(parts: SubstituteParts) {
  const { owners, app, router, address, adopts } = parts;
  const { options, redaction, notice } = parts.settings;
  const { scenario, clock, gauge, ending, store } = parts.foundation;
  const faults = createFaults({ clock, onChange: notice });
  faults.replace(scenario.current.faults ?? []);
  const replaying = createReplaying({
    redaction,
    owner: (call, family) => owners.owner(call, family, true),
    notice,
    ...missWays(options, redaction, ending.signal, () => address().port, notice),
  });
  const recordings = createRecordings({
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
