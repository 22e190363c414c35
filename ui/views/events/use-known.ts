import { useMemo } from "preact/hooks";
import type { KnownValues } from "../../../src/filter/types.ts";
import { call, query } from "../../api/call.ts";
import { project } from "../../app/location.ts";
import { createSeen, type Rows } from "./tally.ts";

/** Properties are read from so many of the latest events, and again after so long, ms. */
const latest = 100;
const stale = 15_000;

interface Told {
  readonly events: readonly { readonly properties: Readonly<Record<string, unknown>> }[];
}

/** What has been seen while the view is there. Names of properties are asked for when somebody types. */
export function useKnown(): (rows: Rows | undefined) => KnownValues {
  return useMemo(() => {
    const seen = createSeen();
    let asked = Number.NEGATIVE_INFINITY;
    const ask = async () => {
      const path = `events${query({ limit: latest, order: "desc", project: project.peek() })}`;
      const told = await call<Told>("GET", path);
      for (const { properties } of told.events) seen.addProperties(Object.keys(properties));
    };
    return (rows) => {
      if (performance.now() - asked > stale) {
        asked = performance.now();
        // without them there is less to be offered, and nothing else is lost
        void ask().catch(() => undefined);
      }
      if (rows) seen.look(rows);
      return seen.known();
    };
  }, []);
}
