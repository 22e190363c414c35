import { shownPresets } from "../../faults/presets.ts";
import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { json, type Reply } from "../../http/reply.ts";
import { SimError } from "../../kernel/errors.ts";
import { didYouMean } from "../../kernel/nearest.ts";
import { bodyOf } from "../body.ts";
import type { ControlDesk } from "../desk.ts";
import { type ControlRow, endpointsOf } from "../rows.ts";

type FaultDesk = Pick<ControlDesk, "faults">;
type Handle = (desk: FaultDesk, call: Call) => Reply | Promise<Reply>;

const list: Handle = ({ faults }) => json({ faults: faults.list() });

const apply: Handle = async ({ faults }, call) => {
  // loads zod, which the rest of the control API does without
  const { orderIn } = await import("./check.ts");
  return json(faults.apply(orderIn(bodyOf(call))));
};

const clear: Handle = ({ faults }) => json({ removed: faults.clear() });

const clearOne: Handle = ({ faults }, call) => {
  const which = call.params.id ?? "";
  const known = faults.list().flatMap(({ id, name }) => [name, id]);
  const removed = faults.clear(which);
  if (removed > 0) return json({ removed });
  const hint = didYouMean(which, known).replace(/^; /, "");
  throw new SimError("not_found", `there is no fault "${which}"`, hint === "" ? {} : { hint });
};

const presets: Handle = () => json({ presets: shownPresets() });

const root = "/__sim/faults";

const rows: readonly ControlRow<FaultDesk>[] = [
  ["GET", root, "The faults in force, and those that are over, with how often each was used", list],
  ["POST", root, "Puts a fault in force: a rule, or a preset with what is to differ", apply],
  ["DELETE", root, "Ends and forgets all faults", clear],
  ["DELETE", `${root}/:id`, "Ends and forgets the faults of this id or name", clearOne],
  ["GET", `${root}/presets`, "The presets, and what they do", presets],
];

/** What goes wrong on purpose. */
export const faultEndpoints = (desk: FaultDesk): Endpoint[] => endpointsOf(rows, desk);
