import { type Endpoint, recordingBodyLimit } from "../http/endpoint.ts";
import { json } from "../http/reply.ts";
import { isUsedUp } from "../ingest/packet.ts";
import { takeRecording } from "../ingest/take-recording.ts";
import type { Desk } from "../model/desk.ts";
import { accepted } from "./capture.ts";
import { noting } from "./capture-note.ts";

/** What posthog-js is told, so that it pauses its recording. Upstream capture, api.rs. */
const overQuota = { status: "Ok", quota_limited: ["recordings"] };

/** Session recordings. */
export const recordingEndpoints = (desk: Desk): Endpoint[] => [
  {
    methods: ["POST", "GET"],
    path: "/s",
    family: "capture",
    summary: "Captures session recordings",
    bodyLimit: recordingBodyLimit,
    handle: noting(function* (call, note) {
      yield* takeRecording(desk, call, note);
      return isUsedUp(call, "recordings") ? json(overQuota) : accepted(call);
    }),
  },
];
