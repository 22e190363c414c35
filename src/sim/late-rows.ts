import { onFirstUse } from "../kernel/base/on-first-use.ts";
import { clearTimeout, setTimeout } from "../kernel/base/real-time.ts";
import type { GuardRules } from "../kernel/http/control-access.ts";
import type { Endpoint } from "../kernel/http/endpoint.ts";
import type { LateRows, Router } from "../kernel/http/router.ts";
import type { RunningExports } from "../service/batch-exports/open-exports.ts";
import type { Desk } from "../service/capture/desk.ts";
import type { FlagBook } from "../service/flags/flag-book.ts";
import type { ManagementDesk } from "../service/management/desk.ts";
import type { SimQueries } from "../service/query/open-queries.ts";
import type { ControlPorts } from "./control-rows.ts";

const isControl = (path: string): boolean => path.startsWith("/__sim");
const isAssertion = (path: string): boolean =>
  /^\/__sim\/(?:contacts|events|feed|projects|requests|settle|ws)(?:\/|$)/.test(path);
const isManagement = (path: string): boolean => /^\/(api|shared|shared_dashboard|embedded)\//.test(path);

/** Everything but capture: the other endpoints of SDKs, the management API, the control API; each when it is needed. */
export function lateRows({
  desk,
  resourceDesk,
  controlPorts,
  rules,
  exportsOf,
  queriesOf,
}: LateParts): LateRows[] {
  const bookOf = onFirstUse<FlagBook>(async () => {
    const { createFlagBook } = await import("../service/flags/flag-book.ts");
    return createFlagBook(desk);
  });
  const resources = async (): Promise<ManagementDesk> => ({
    ...resourceDesk,
    exports: (await exportsOf()).engine,
    queries: (await queriesOf()).queries,
  });
  const allControlPorts = async () => ({
    ...controlPorts,
    flagBook: await bookOf(),
    exports: await exportsOf(),
    ...(await queriesOf()),
    resources: await resources(),
  });
  return [
    {
      owns: (path) => !isControl(path),
      async load() {
        const { lateIngestionEndpoints } = await import("./public-rows.ts");
        return lateIngestionEndpoints(desk, await bookOf(), controlPorts.notice);
      },
    },
    {
      owns: isManagement,
      async load() {
        const { resourceEndpoints } = await import("../service/management/rows.ts");
        return resourceEndpoints(await resources());
      },
    },
    {
      owns: isAssertion,
      async load() {
        const { assertionEndpoints } = await import("./assertion-rows.ts");
        return assertionEndpoints(await allControlPorts(), rules);
      },
    },
    {
      owns: isControl,
      async load() {
        const { controlEndpoints } = await import("./control-rows.ts");
        return controlEndpoints(await allControlPorts(), rules);
      },
    },
  ];
}

interface LateParts {
  desk: Desk;
  resourceDesk: Omit<ManagementDesk, "exports" | "queries">;
  controlPorts: Omit<ControlPorts, "flagBook" | "exports" | "resources" | keyof SimQueries>;
  rules: GuardRules;
  exportsOf(): Promise<RunningExports>;
  queriesOf(): Promise<SimQueries>;
}

/** The rows with their docs; those of the public endpoints are loaded only for this. */
export async function documented(router: Router): Promise<readonly Endpoint[]> {
  const { withIngestionDocs } = await import("./public-docs.ts");
  return withIngestionDocs(await router.endpoints());
}

const warmUpDelay = 250;

/**
 * So that the first flag request does not pay for the loading, and what is due happens without a request.
 * Returns what ends it: resolved when nothing is being loaded any more.
 */
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
