/** What can be wrong with an entry that is imported all the same. */
export type NoteCode =
  | "no_request_body"
  | "no_answer_body"
  | "body_elsewhere"
  | "damaged_body"
  | "odd_base64"
  | "odd_times"
  | "no_start"
  | "blocked";

/** Why an entry is not imported. */
export type SkipCode =
  | "elsewhere"
  | "websocket"
  | "tunnel"
  | "not_http"
  | "preflight"
  | "no_request"
  | "not_json"
  | "too_large"
  | "cut_off";

/** What is told of each, and what can be done about it. */
export const noteTexts: Readonly<Record<NoteCode | SkipCode, readonly [detail: string, hint: string]>> = {
  no_request_body: [
    "the request's body is not in the HAR",
    "Browsers leave out binary bodies (gzip): record with phx-sim record, or with compression off",
  ],
  no_answer_body: [
    "the answer's body is not in the HAR",
    'Export with contents ("Save all as HAR with content"), before the page is left',
  ],
  body_elsewhere: ["the answer's body is in a file of its own", 'Record with content: "embed"'],
  damaged_body: [
    "the request's body was binary and its bytes are lost",
    "The tool wrote bytes as text: record with phx-sim record, or with compression off",
  ],
  odd_base64: ["a body that claims to be base64 is not; taken as text", "Look at it with phx-sim tape show"],
  odd_times: ["times below zero, counted as zero", "Replay with recorded timing may be too quick"],
  no_start: ["no start time; taken for that of the entry before", "Only the recorded times are wrong"],
  blocked: ["a browser's extension blocked the request", "Record without ad blockers"],
  elsewhere: ["a request to another service", "--all imports every entry"],
  websocket: ["a websocket", "Tapes hold requests and answers only"],
  tunnel: ["a CONNECT to a proxy", "The requests inside are entries of their own"],
  not_http: ["an address that is no http", "Nothing is lost: there was no request"],
  preflight: ["a CORS preflight", "phx-sim answers them itself; --all imports them"],
  no_request: ["an entry without a method or an address", "Nothing can be made of it"],
  not_json: ["an entry that is no JSON", "The file was damaged or edited"],
  too_large: ["an entry that is too large", "Remove it from the HAR, or record with phx-sim record"],
  cut_off: ["the file ends in the middle", "Export it again; what came before is imported"],
};
