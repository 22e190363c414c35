import { assertPorts } from "../assert/ports.ts";
import { assertRows } from "../assert/rows.ts";
import { searchRows } from "../assert/search-rows.ts";
import { clockRows } from "../clock/rows.ts";
import { exportRows } from "../exports/rows.ts";
import { answerRows } from "../faults/answer-rows.ts";
import { faultRows } from "../faults/rows.ts";
import type { FaultRules } from "../faults/rules.ts";
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
import type { Recordings, TapePlayer } from "../tapes/ports.ts";
import { recordingRows, tapeRows } from "../tapes/rows.ts";
import { problemRows } from "./problems.ts";

type PortsOf<Rows> = Rows extends (ports: infer Ports) => Endpoint[] ? Ports : never;

/** What the rows need, as each slice declares it. */
export type ControlPorts = Parameters<typeof assertPorts>[0] &
  PortsOf<typeof stateRows> &
  PortsOf<typeof snapshotRows> &
  PortsOf<typeof clockRows> &
  PortsOf<typeof eventRows> &
  PortsOf<typeof projectRows> &
  PortsOf<typeof requestRows> &
  PortsOf<typeof totalRows> &
  PortsOf<typeof problemRows> &
  PortsOf<typeof peopleRows> &
  PortsOf<typeof flagRows> &
  PortsOf<typeof answerRows> &
  PortsOf<typeof exportRows> &
  PortsOf<typeof lintRows> &
  PortsOf<typeof feedRows> &
  PortsOf<typeof worldRows> & {
    readonly faults: FaultRules;
    readonly tapes: TapePlayer;
    readonly recordings: Recordings;
  };

/** Every endpoint below /__sim. */
export function controlEndpoints(ports: ControlPorts, rules: GuardRules): Endpoint[] {
  const asserting = assertPorts(ports);
  return [
    ...healthRows(ports),
    ...guarded(
      [
        ...stateRows(ports),
        ...snapshotRows(ports),
        ...clockRows(ports),
        ...searchRows(asserting),
        ...eventRows(ports),
        ...assertRows(asserting),
        ...projectRows(ports),
        ...requestRows(ports),
        ...requestHarRows(ports),
        ...totalRows(ports),
        ...problemRows(ports),
        ...peopleRows(ports),
        ...flagRows(ports),
        ...faultRows(ports.faults),
        ...answerRows(ports),
        ...tapeRows(ports.tapes),
        ...exportRows(ports),
        ...lintRows(ports),
        ...feedRows(ports),
        ...recordingRows(ports.recordings),
        ...worldRows(ports),
        ...openApiRows(() => ports.endpoints()),
      ],
      rules,
    ),
    ...guardedPage(pageRows(), rules),
  ];
}
