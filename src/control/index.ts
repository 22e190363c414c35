import type { Endpoint } from "../http/endpoint.ts";
import { answerEndpoints } from "./answers/endpoints.ts";
import { clockEndpoints } from "./clock.ts";
import type { ControlDesk } from "./desk.ts";
import { withControlDocs } from "./docs.ts";
import { eventEndpoints } from "./events.ts";
import { exportEndpoints } from "./exports/endpoints.ts";
import { faultEndpoints } from "./faults/endpoints.ts";
import { flagEndpoints } from "./flags/endpoints.ts";
import { type GuardRules, guarded } from "./guard.ts";
import { openApiEndpoints } from "./openapi.ts";
import { pageEndpoints } from "./page.ts";
import { peopleEndpoints } from "./people.ts";
import { requestEndpoints } from "./requests.ts";
import { snapshotEndpoints } from "./snapshots.ts";
import { healthEndpoints, stateEndpoints } from "./state.ts";
import { waitEndpoints } from "./wait.ts";

/** Every endpoint below /__sim. */
export const controlEndpoints = (desk: ControlDesk, rules: GuardRules): Endpoint[] =>
  withControlDocs([
    ...healthEndpoints(desk),
    ...guarded(
      [
        ...stateEndpoints(desk),
        ...snapshotEndpoints(desk),
        ...clockEndpoints(desk),
        ...eventEndpoints(desk),
        ...waitEndpoints(desk),
        ...requestEndpoints(desk),
        ...peopleEndpoints(desk),
        ...flagEndpoints(desk),
        ...faultEndpoints(desk),
        ...answerEndpoints(desk),
        ...exportEndpoints(desk),
        ...openApiEndpoints(desk),
        ...pageEndpoints(desk),
      ],
      rules,
    ),
  ]);
