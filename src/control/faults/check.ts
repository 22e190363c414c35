import type { JsonObject } from "../../kernel/json.ts";
import type { FaultOrder as Order } from "../../model/fault.ts";
import { FaultEffect, FaultMatch, FaultOrder } from "../../model/schemas/fault.ts";
import { checked, schemaOf } from "../check.ts";

/** The keys that may stand at a place. */
const keysAt: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(FaultOrder.shape),
  match: Object.keys(FaultMatch.shape),
  effect: Object.keys(FaultEffect.shape),
};

/** The rule or preset that a body asks for. @throws SimError invalid_input for the first thing that is wrong */
export const orderIn = (body: JsonObject): Order =>
  checked(FaultOrder, body, (path) => keysAt[path.join("/")] ?? []);

/** The shape of such a body, as JSON Schema. */
export const orderSchema = () => schemaOf(FaultOrder);
