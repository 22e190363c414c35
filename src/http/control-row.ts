import type { Call } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Reply } from "./reply.ts";

/** An endpoint below /__sim in a line; its handler is given what it may touch. */
export type ControlRow<Desk> = readonly [
  method: string,
  path: string,
  summary: string,
  handle: (desk: Desk, call: Call) => Reply | Promise<Reply>,
];

/** The endpoints of a table. */
export const endpointsOf = <Desk>(rows: readonly ControlRow<Desk>[], desk: Desk): Endpoint[] =>
  rows.map(([method, path, summary, handle]) => ({
    methods: [method],
    path,
    family: "control",
    summary,
    handle: (call) => handle(desk, call),
  }));
