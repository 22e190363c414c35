import { type Endpoint, recordingBodyLimit } from "../http/endpoint.ts";
import { takeRecording } from "../ingest/take-recording.ts";
import type { Desk } from "../model/desk.ts";
import { accepted } from "./capture.ts";
import { noting } from "./capture-note.ts";

/** Session recordings. */
export const recordingEndpoints = (desk: Desk): Endpoint[] => [
  {
    methods: ["POST", "GET"],
    path: "/s",
    family: "capture",
    summary: "Captures session recordings",
    bodyLimit: recordingBodyLimit,
    handle: noting((call, note) => {
      takeRecording(desk, call, note);
      return accepted(call);
    }),
  },
];
