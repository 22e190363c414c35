import type { Suite } from "../suite.ts";
import { suite as batch } from "./batch.ts";
import { suite as capture } from "./capture.ts";
import { suite as dashboards } from "./dashboards.ts";
import { suite as feed } from "./feed.ts";
import { suite as flags } from "./flags.ts";
import { suite as growth } from "./growth.ts";
import { suite as inProcess } from "./in-process.ts";
import { suite as insightQueries } from "./insight-queries.ts";
import { suite as kill } from "./kill.ts";
import { suite as passThrough } from "./pass-through.ts";
import { suite as peers } from "./peers.ts";
import { suite as query } from "./query.ts";
import { suite as replay } from "./replay.ts";
import { suite as start } from "./start.ts";
import { suite as testSuite } from "./test-suite.ts";
import { suite as wait } from "./wait.ts";

/** In the order they run: `start` uses the folder that `query` filled. */
export const suites: readonly Suite[] = [
  capture,
  batch,
  flags,
  query,
  insightQueries,
  start,
  growth,
  inProcess,
  testSuite,
  wait,
  feed,
  replay,
  passThrough,
  dashboards,
  kill,
  peers,
];
