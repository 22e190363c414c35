import { assertPorts } from "../assert/ports.ts";
import { assertRows } from "../assert/rows.ts";
import { searchRows } from "../assert/search-rows.ts";
import { clockRows } from "../clock/rows.ts";
import { exportRows } from "../exports/rows.ts";
import { answerRows } from "../faults/answer-rows.ts";
import { faultRows } from "../faults/rows.ts";
import { flagRows } from "../flags/rows.ts";
import { type GuardRules, guarded, guardedPage } from "../http/control-access.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { eventRows } from "../journal/event-rows.ts";
import { feedRows } from "../journal/feed/rows.ts";
import { requestRows } from "../journal/request-rows.ts";
import { totalRows } from "../journal/total-rows.ts";
import { lintRows } from "../lint/rows.ts";
import { worldRows } from "../management/world-rows.ts";
import { peopleRows } from "../people/rows.ts";
import { projectRows } from "../projects/rows.ts";
import { healthRows, stateRows } from "../scenario/state/rows.ts";
import { snapshotRows } from "../scenario/state/snapshot-rows.ts";
import { openApiRows } from "../server/openapi-rows.ts";
import { pageRows } from "../server/page-rows.ts";
import { requestHarRows } from "../tapes/har/request-rows.ts";
import { recordingRows, tapeRows } from "../tapes/rows.ts";
import type { ControlDesk } from "./control-desk.ts";
import { withKnownQuery } from "./control-query-names.ts";
import { problemRows } from "./problems.ts";

/** Every endpoint below /__sim. */
export function controlEndpoints(desk: ControlDesk, rules: GuardRules): Endpoint[] {
  const asserting = assertPorts(desk);
  return [
    ...healthRows(desk),
    ...guarded(
      [
        ...stateRows(desk),
        ...snapshotRows(desk),
        ...clockRows(desk),
        ...searchRows(asserting),
        ...eventRows(desk),
        ...assertRows(asserting),
        ...projectRows(desk),
        ...requestRows(desk),
        ...requestHarRows(desk),
        ...totalRows(desk),
        ...problemRows(desk),
        ...peopleRows(desk),
        ...flagRows(desk),
        ...faultRows(desk.faults),
        ...answerRows(desk),
        ...tapeRows(desk.tapes),
        ...exportRows(desk),
        ...lintRows(desk),
        ...feedRows(desk),
        ...recordingRows(desk.recordings),
        ...worldRows(desk),
        ...openApiRows(() => desk.endpoints()),
      ].map(withKnownQuery),
      rules,
    ),
    ...guardedPage(pageRows(), rules),
  ];
}
