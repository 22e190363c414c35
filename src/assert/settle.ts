import { SimError } from "../base/errors.ts";
import { allowKeys, bodyOf, wholeNumber } from "../http/control-body.ts";
import { json } from "../http/reply.ts";
import { type Handle, whileThere } from "./opening.ts";
import { longestWait, projectIn, timeoutIn } from "./wish.ts";

/** Answers once nothing more is coming. */
export const settle: Handle = (desk, call) =>
  whileThere(desk, call, async (gone) => {
    const body = bodyOf(call);
    allowKeys(body, ["project", "idle_ms", "timeout_ms"]);
    const { project } = projectIn(desk, body);
    const idle = wholeNumber(body, "idle_ms", 250, { min: 0, max: longestWait });
    const timeout = timeoutIn(body);
    const timer = setTimeout(gone.end, timeout);
    try {
      await desk.gauge.quiet(idle, gone.signal, project);
    } catch {
      const data = { in_flight: desk.gauge.inFlightOf(project), cursor: desk.log.lastSeq };
      throw new SimError("wait_timeout", `not quiet for ${idle} ms within ${timeout} ms`, { data });
    } finally {
      clearTimeout(timer);
    }
    return json({ quiet: true, cursor: desk.log.lastSeq });
  });
