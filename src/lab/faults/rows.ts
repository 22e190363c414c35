import { z } from "zod";
import { notFound } from "../../kernel/http/control-body.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { shownPresets } from "./presets.ts";
import type { FaultRules } from "./rules.ts";
import { Fault, FaultOrder, FaultPreset } from "./shapes.ts";

const Removed = z.strictObject({ removed: z.int() });

export const faultSlice = slice(["faults"], ({ faults }: { readonly faults: FaultRules }) => [
  row({
    method: "GET",
    path: "/__sim/faults",
    access: "control",
    summary: "Lists faults, including ended ones, with the number of requests each affected",
    reply: z.strictObject({ faults: z.array(Fault) }),
    handle: () => ({ faults: faults.list() }),
  }),
  row({
    method: "POST",
    path: "/__sim/faults",
    access: "control",
    summary: "Applies a fault: a rule, or a preset with changes",
    body: FaultOrder,
    reply: Fault,
    handle: ({ body }) => faults.apply(body),
  }),
  row({
    method: "DELETE",
    path: "/__sim/faults",
    access: "control",
    summary: "Removes all faults",
    reply: Removed,
    handle: () => ({ removed: faults.clear() }),
  }),
  row({
    method: "DELETE",
    path: "/__sim/faults/:id",
    access: "control",
    summary: "Removes the faults with this id or name",
    errors: [404],
    reply: Removed,
    handle({ params }) {
      const known = faults.list().flatMap(({ id, name }) => [name, id]);
      const removed = faults.clear(params.id);
      if (removed === 0) throw notFound("fault", params.id, known);
      return { removed };
    },
  }),
  row({
    method: "GET",
    path: "/__sim/faults/presets",
    access: "control",
    summary: "Lists the presets",
    reply: z.strictObject({ presets: z.array(FaultPreset) }),
    handle: () => ({ presets: shownPresets() }),
  }),
]);
