import { type Sim, startSim } from "../../../../src/index.ts";
import { plainBody } from "../../../../src/lab/tapes/format/bodies.ts";
import type { Exchange, TapeBody } from "../../../../src/lab/tapes/format/exchange.ts";
import { routeOf } from "../../../../src/lab/tapes/format/routes.ts";

/** A request as a test names it; `$1` in a path is the last id that was answered, `$key` the sim's project key. */
export interface Asked {
  method?: string;
  path: string;
  body?: unknown;
  /** Sent as `Authorization: Bearer`. */
  key?: string | null;
}

const wire = { bytes: 100, encodings: [] };

/** The exchanges of a sim that is asked these things, in order, as a tape would have them without redaction. */
export async function recorded(sim: Sim, asked: readonly Asked[]): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  let last = "";
  for (const { method = "GET", path, body, key = sim.personalApiKey } of asked) {
    const target = path.replaceAll("$1", last).replaceAll("$key", sim.apiKey);
    const headers: [string, string][] = [
      ["Host", "us.posthog.com"],
      ...(key === null ? [] : ([["Authorization", `Bearer ${key}`]] as [string, string][])),
      ...(body === undefined ? [] : ([["Content-Type", "application/json"]] as [string, string][])),
    ];
    const answer = await sim.handle(
      new Request(`http://localhost${target}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body).replaceAll("$key", sim.apiKey) }),
      }),
    );
    const bytes = Buffer.from(await answer.arrayBuffer());
    const answered = bytes.length > 0 ? plainBody(bytes) : undefined;
    last = idIn(answered) ?? last;
    exchanges.push({
      i: exchanges.length + 1,
      at: "2026-01-02T03:04:05.000Z",
      route: routeOf(method, target),
      req: {
        method,
        url: `https://us.posthog.com${target}`,
        http: "1.1",
        headers,
        wire,
        ...(body !== undefined && { body: { json: JSON.parse(JSON.stringify(body).replaceAll("$key", sim.apiKey)) } }),
      },
      res: {
        status: answer.status,
        reason: "",
        http: "1.1",
        headers: [...answer.headers],
        wire,
        ...(answered && { body: answered }),
        ttfb: 1,
        total: 2,
      },
      complete: true,
      redacted: [],
    });
  }
  return exchanges;
}

function idIn(body: TapeBody | undefined): string | undefined {
  if (!body || !("json" in body)) return undefined;
  const id = Reflect.get(Object(body.json), "id");
  return id === undefined ? undefined : String(id);
}

/** A tape's worth of what the two dialects answer differently, and of much that they answer alike. */
export const tour: readonly Asked[] = [
  { path: "/api/users/@me/" },
  { path: "/api/organizations/" },
  { path: "/api/projects/" },
  { path: "/api/projects/1/" },
  { path: "/api/projects/1/dashboards/" },
  { path: "/api/projects/1/feature_flags/" },
  { path: "/api/feature_flag/local_evaluation?token=$key&send_cohorts" },
  { path: "/api/projects/1/persons/" },
  { method: "POST", path: "/api/projects/1/dashboards/", body: { name: "Made on the way" } },
  { path: "/api/projects/1/dashboards/$1/" },
  { method: "PATCH", path: "/api/projects/1/dashboards/$1/", body: { name: "Another name" } },
  { path: "/api/projects/1/dashboards/" },
  {
    method: "POST",
    path: "/api/projects/1/batch_exports/",
    body: {
      name: "To a bucket",
      interval: "hour",
      destination: { type: "S3", config: { bucket_name: "b", region: "us-east-1", prefix: "p" } },
    },
  },
  { path: "/api/projects/1/batch_exports/$1/" },
  { method: "POST", path: "/flags/?v=2", key: null, body: { api_key: "$key", distinct_id: "u-1" } },
  { method: "POST", path: "/decide/?v=3", key: null, body: { api_key: "$key", distinct_id: "u-1" } },
  {
    method: "POST",
    path: "/batch/",
    key: null,
    body: { api_key: "$key", batch: [{ event: "seen", distinct_id: "u-1", properties: {} }] },
  },
  {
    method: "POST",
    path: "/batch/",
    key: null,
    body: { api_key: "$key", batch: [{ event: "", distinct_id: "u-1", properties: {} }] },
  },
  { path: "/api/projects/1/dashboards/404404/" },
  { path: "/api/projects/1/", key: "phx_of_nobody_at_all" },
];

/** A sim in memory that closes with the test. */
export const openSim = (dialect: "documented" | "production", scenario = "saas-team"): Promise<Sim> =>
  startSim({ dialect, scenario, clock: "2026-01-02T03:04:05Z" });
