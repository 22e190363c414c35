import { setTimeout as pause } from "node:timers/promises";
import { type Client, connect } from "./client.ts";
import { removeFolder, temporaryFolder } from "./folders.ts";
import { batchBody, digits } from "./payload.ts";
import { launch, type Server } from "./server.ts";

/** As large as SDKs make them. */
const batchSize = 100;
/** Events in a row that have the same name, and how many names there are. */
const stretch = 1000;
const names = 200;

/** Which event the i-th is: `ids` users in turn, and another name after each thousand events. */
export const filledEvent = (i: number, ids: number) => ({
  event: `event-${Math.floor(i / stretch) % names}`,
  distinct_id: `user-${digits(i % ids)}`,
  n: i,
});

/** How many of `events` have the name and the user of the i-th. */
export const sameAs = (events: number, ids: number): number =>
  ids === events ? 1 : Math.max(1, Math.floor(events / stretch / names));

/** A sim that took in a big number of events through POST /batch/, and still runs. */
export interface Filled {
  readonly folder: string;
  readonly server: Server;
  readonly events: number;
  /** Number of different distinct ids. */
  readonly ids: number;
  /** Resident bytes after the start, and after the last event and a moment of quiet. */
  readonly memory: { idle: number; filled: number };
  /** How long filling took, in ms. */
  readonly ms: number;
}

async function send(client: Client, server: Server, first: number, ids: number): Promise<void> {
  const items = Array.from({ length: batchSize }, (_, i) => filledEvent(first + i, ids));
  const answer = await client.call("POST", "/batch/", batchBody(server.key, items));
  if (answer.status !== 200) throw new Error(`/batch/ answered ${answer.status}: ${answer.body.slice(0, 300)}`);
}

/** Two connections take turns, so that the server has the next batch when it is done with one. */
async function pour(server: Server, events: number, ids: number): Promise<void> {
  const lanes = [0, 1].map(async (lane) => {
    const client = connect(server);
    for (let first = lane * batchSize; first < events; first += 2 * batchSize) {
      await send(client, server, first, ids);
    }
    client.close();
  });
  await Promise.all(lanes);
}

async function checkCount(server: Server, events: number): Promise<void> {
  const client = connect(server);
  const info = await client.json<{ counts: { kept: number } }>("GET", "/__sim/info");
  client.close();
  if (info.counts.kept !== events) throw new Error(`${events} events sent, ${info.counts.kept} kept`);
}

async function fill(events: number, ids: number, quietMs: number): Promise<Filled> {
  const folder = temporaryFolder();
  const server = await launch("sim", folder, true);
  await pause(Math.min(300, quietMs));
  const idle = server.memory();
  const startedAt = performance.now();
  await pour(server, events, ids);
  const ms = performance.now() - startedAt;
  await checkCount(server, events);
  await pause(quietMs);
  return { folder, server, events, ids, memory: { idle, filled: server.memory() }, ms };
}

/** Big data folders, made once per run by whichever suite needs them first. */
export interface Fixtures {
  /** A running sim that holds the run's big number of events of `ids` users. */
  filled(ids: number): Promise<Filled>;
  /** Its folder, after the sim has stopped in good order. */
  atRest(ids: number): Promise<string>;
  /** Stops it and deletes its folder. */
  discard(ids: number): Promise<void>;
}

/** @param quietMs From the last event to the measurement of memory */
export function createFixtures(events: number, quietMs: number): Fixtures {
  const made = new Map<number, Promise<Filled>>();
  const filled = (ids: number): Promise<Filled> => {
    const known = made.get(ids) ?? fill(events, ids, quietMs);
    made.set(ids, known);
    return known;
  };
  return {
    filled,
    async atRest(ids) {
      const { server, folder } = await filled(ids);
      await server.stop();
      return folder;
    },
    async discard(ids) {
      const { server, folder } = await filled(ids);
      await server.stop();
      removeFolder(folder);
      made.delete(ids);
    },
  };
}
