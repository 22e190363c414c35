import { inSlices, type Work } from "../../../kernel/base/work.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { defaultBodyLimit, type Endpoint } from "../../../kernel/http/endpoint.ts";
import { type Reply, text } from "../../../kernel/http/reply.ts";
import { slice } from "../../../kernel/http/slice.ts";
import { aiUploadEndpoint } from "../ai-upload.ts";
import type { Desk } from "../desk.ts";
import { accepted, takeLegacy } from "../take-legacy.ts";

interface Row {
  path: string;
  summary: string;
  /** The contract's row; its endpoints accept no GET (dialect row get_on_ingestion). */
  contract?: string;
  lane?: "ai";
}

/** All paths accept all body shapes. Upstream capture, router.rs. */
const rows: readonly Row[] = [
  { path: "/capture", summary: "Captures one event", contract: "POST /capture/" },
  { path: "/batch", summary: "Captures many events", contract: "POST /batch/" },
  { path: "/e", summary: "Captures events (posthog-js)" },
  { path: "/i/v0/e", summary: "Captures events (posthog-js)" },
  { path: "/track", summary: "Captures events" },
  { path: "/engage", summary: "Captures events; one without a name is an $identify" },
  { path: "/i/v0/ai/batch", summary: "Captures LLM events", lane: "ai" },
];

function* capture(desk: Desk, call: Call, lane: "any" | "ai"): Work<Reply> {
  yield* takeLegacy(desk, call, lane);
  return accepted(call);
}

function endpointOf(row: Row, desk: Desk): Endpoint {
  const lane = row.lane ?? "any";
  const postOnly = lane === "ai" || (row.contract !== undefined && desk.dialect === "documented");
  return {
    methods: postOnly ? ["POST"] : ["POST", "GET"],
    path: row.path,
    family: "capture",
    summary: row.summary,
    ...(row.contract === undefined ? {} : { contract: row.contract }),
    bodyLimit: defaultBodyLimit,
    handle: (call) => inSlices(capture(desk, call, lane)),
  };
}

/** For load balancers and browsers; not kept in the journal. */
const plainRows = [
  { path: "/_readiness", summary: "Readiness", answer: "capture" },
  { path: "/_liveness", summary: "Liveness", answer: "ok" },
];

/** Browsers accept HTML; SDKs and scripts do not. */
const isBrowser = ({ headers }: Call): boolean => /\btext\/html\b/i.test(headers.accept ?? "");

const toPage: Reply = {
  status: 302,
  headers: ["location", "/__sim/", "cache-control", "no-store", "vary", "accept"],
  body: null,
};

const rootEndpoint = (mayVisit: (call: Call) => boolean): Endpoint => ({
  ...plainEndpoint({ path: "/", summary: "Names the service; redirects browsers to the inspector", answer: "capture" }),
  handle: (call) => (isBrowser(call) && mayVisit(call) ? toPage : text("capture")),
});

const plainEndpoint = ({ path, summary, answer }: (typeof plainRows)[number]): Endpoint => ({
  methods: ["GET"],
  path,
  family: "capture",
  summary,
  journaled: false,
  handle: () => text(answer),
});

const blackHole: Endpoint = {
  methods: ["POST"],
  path: "/test/black_hole",
  family: "capture",
  summary: "Accepts any body and ignores it",
  handle: accepted,
};

interface CapturePorts {
  readonly desk: Desk;
  /** True if the inspector may answer the call. */
  mayVisit(call: Call): boolean;
}

export const captureSlice = slice(["desk", "mayVisit"], ({ desk, mayVisit }: CapturePorts) => [
  ...rows.map((row) => endpointOf(row, desk)),
  aiUploadEndpoint(desk),
  blackHole,
  rootEndpoint(mayVisit),
  ...plainRows.map(plainEndpoint),
]);
