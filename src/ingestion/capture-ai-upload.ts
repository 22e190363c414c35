import type { Endpoint } from "../http/endpoint.ts";
import { json } from "../http/reply.ts";
import { takeAiUpload } from "../ingest/ai-upload.ts";
import type { Desk } from "../model/desk.ts";
import { noting } from "./capture-note.ts";

/** 25 MiB of parts and a tenth for what is between them, as upstream. */
const bodyLimit = 27.5 * 1024 * 1024;

/** One LLM event as multipart/form-data, with large values beside it. */
export const aiUploadEndpoint = (desk: Desk): Endpoint => ({
  methods: ["POST"],
  path: "/i/v0/ai",
  family: "capture",
  summary: "Captures one LLM event sent as multipart",
  bodyLimit,
  handle: noting(function* (call, note) {
    return json({ accepted_parts: yield* takeAiUpload(desk, call, note) });
  }),
});
