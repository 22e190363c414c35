import type { Call } from "../http/call.ts";
import type { Family } from "../http/endpoint.ts";
import type { FaultPort } from "../http/fault.ts";
import type { Gauge } from "../kernel/gauge.ts";
import type { Note } from "../model/traffic.ts";

/**
 * The port, telling the gauge whose request it is that is made to wait: the journal says so only when it is
 * answered, and until then it would keep everybody from being quiet.
 */
export const tellingOwner = (
  port: FaultPort,
  gauge: Pick<Gauge, "tell">,
  read: (call: Call, family: Family) => Note,
): FaultPort => ({
  closing: port.closing,
  get active() {
    return port.active;
  },
  take(call, family) {
    const fault = port.take(call, family);
    if (fault === undefined || fault.delay === 0) return fault;
    const { project } = read(call, family);
    if (typeof project === "number") gauge.tell(call.ticket, project);
    return fault;
  },
});
