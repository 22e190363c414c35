import { SimError } from "../../kernel/base/errors.ts";
import { pathNumber } from "../../kernel/http/control-body.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import { searchEvents } from "../../state/journal/search.ts";
import { frameSource, type SourcePorts } from "./frame-source.ts";
import { createExceptionGroups } from "./groups.ts";
import { ExceptionGroups, FrameSource, GroupsQuery, SourceQuery } from "./shapes.ts";

interface ExceptionPorts extends SourcePorts {
  readonly log: TrafficLog;
}

export const exceptionSlice = slice(["clock", "sourceFolder", "log"], (ports: ExceptionPorts) => {
  const groupsOf = createExceptionGroups(ports.log);
  return [
    row({
      method: "GET",
      path: "/__sim/exceptions",
      access: "control",
      summary: "Lists exceptions by fingerprint, with counts, persons, first and last one",
      query: GroupsQuery,
      reply: ExceptionGroups,
      handle: ({ query: { project, id } }) => groupsOf(project, id),
    }),
    row({
      method: "GET",
      path: "/__sim/events/:seq/source",
      access: "control",
      summary: "Returns the lines of source around a frame of an exception, from files below the working directory",
      query: SourceQuery,
      errors: [404],
      reply: FrameSource,
      async handle({ call, query }) {
        const seq = pathNumber(call, "seq", "event");
        for await (const event of searchEvents(ports.log, { since: seq - 1, until: seq }))
          return await frameSource(ports, event, query);
        throw new SimError("not_found", `there is no event ${seq}`);
      },
    }),
  ];
});
