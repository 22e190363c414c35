import { connectSim, type Sim, type SimClient, startSim } from "../../../src/index.ts";

/** The two ways to hold a sim: what is true of one is true of the other. */
export const ends: readonly { end: string; hold(sim: Sim): Promise<SimClient> }[] = [
  { end: "in process", hold: async (sim) => sim },
  { end: "connected", hold: (sim) => connectSim(sim.url) },
];

export interface Held extends AsyncDisposable {
  sim: Sim;
  client: SimClient;
}

/** A sim of its own, and what holds it. */
export async function held({ hold }: (typeof ends)[number]): Promise<Held> {
  const sim = await startSim();
  return { sim, client: await hold(sim), [Symbol.asyncDispose]: () => sim.close() };
}

interface Captured {
  event: string;
  distinct_id?: string;
  properties?: Record<string, unknown>;
}

/** Sends events as an SDK does, over a socket. */
export async function capture(
  { host, apiKey }: { host: string; apiKey: string },
  ...events: readonly (Captured | string)[]
): Promise<void> {
  const batch = events.map((it) => ({ distinct_id: "u1", ...(typeof it === "string" ? { event: it } : it) }));
  const response = await fetch(`${host}/batch/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ api_key: apiKey, batch }),
  });
  if (response.status !== 200) throw new Error(`capture was answered ${response.status}`);
}

export const names = (events: readonly { event: string }[]): string[] => events.map(({ event }) => event);
