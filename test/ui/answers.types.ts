import { expectTypeOf } from "vitest";
import type { ShownRequestInFull } from "../../src/journal/request-rows.ts";
import type { RequestInFull } from "../../ui/api/requests.ts";

// The page reads what the control API answers. The compiler checks this file (`npm run types`, part of `npm test`).

expectTypeOf<ShownRequestInFull>().toExtend<RequestInFull>();
