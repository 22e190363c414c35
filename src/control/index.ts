import type { Endpoint } from "../http/endpoint.ts";
import { answerEndpoints } from "./answers/endpoints.ts";
import { assertDesk } from "./assert/desk.ts";
import { assertEndpoints } from "./assert/endpoints.ts";
import { clockEndpoints } from "./clock.ts";
import type { ControlDesk } from "./desk.ts";
import { eventEndpoints } from "./events.ts";
import { exportEndpoints } from "./exports/endpoints.ts";
import { faultEndpoints } from "./faults/endpoints.ts";
import { feedEndpoints } from "./feed/endpoints.ts";
import { flagEndpoints } from "./flags/endpoints.ts";
import { type GuardRules, guarded, guardedPage } from "./guard.ts";
import { lintEndpoints } from "./lint/endpoints.ts";
import { openApiEndpoints } from "./openapi.ts";
import { pageEndpoints } from "./page.ts";
import { peopleEndpoints } from "./people/endpoints.ts";
import { problemEndpoints } from "./problems.ts";
import { projectEndpoints } from "./projects.ts";
import { withKnownQuery } from "./query-names.ts";
import { recordingEndpoints } from "./recording.ts";
import { requestEndpoints } from "./requests.ts";
import { snapshotEndpoints } from "./snapshots.ts";
import { healthEndpoints, stateEndpoints } from "./state.ts";
import { tapeEndpoints } from "./tapes.ts";
import { totalsEndpoints } from "./totals.ts";
import { worldEndpoints } from "./world/endpoints.ts";

/** Every endpoint below /__sim; what the OpenAPI document says of them is in docs.ts. */
export function controlEndpoints(desk: ControlDesk, rules: GuardRules): Endpoint[] {
  const asserting = assertDesk(desk);
  return [
    ...healthEndpoints(desk),
    ...guarded(
      [
        ...stateEndpoints(desk),
        ...snapshotEndpoints(desk),
        ...clockEndpoints(desk),
        ...eventEndpoints({ ...asserting, snapshots: desk.snapshots, switchTo: desk.switchTo }),
        ...assertEndpoints(asserting),
        ...projectEndpoints(desk),
        ...requestEndpoints(desk),
        ...totalsEndpoints(desk),
        ...problemEndpoints(desk),
        ...peopleEndpoints(desk),
        ...flagEndpoints(desk),
        ...faultEndpoints(desk),
        ...answerEndpoints(desk),
        ...tapeEndpoints(desk),
        ...exportEndpoints(desk),
        ...lintEndpoints(desk),
        ...feedEndpoints(desk),
        ...recordingEndpoints(desk),
        ...worldEndpoints(desk),
        ...openApiEndpoints(desk),
      ].map(withKnownQuery),
      rules,
    ),
    ...guardedPage(pageEndpoints(), rules),
  ];
}
