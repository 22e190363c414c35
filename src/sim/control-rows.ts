import { clockRows } from "../clock/rows.ts";
import { exceptionRows } from "../exceptions/rows.ts";
import { answerRows } from "../faults/answer-rows.ts";
import { faultRows } from "../faults/rows.ts";
import type { FaultRules } from "../faults/rules.ts";
import { journeyRows } from "../journeys/rows.ts";
import { type GuardRules, guarded, guardedBadge, guardedPage } from "../kernel/http/control-access.ts";
import type { Endpoint } from "../kernel/http/endpoint.ts";
import { lintRows } from "../lint/rows.ts";
import { llmsRow, mcpRows } from "../mcp/rows.ts";
import { peopleRows } from "../people/rows.ts";
import { proxyRows } from "../proxies/rows.ts";
import { healthRows, snapshotRows, stateRows } from "../scenario/state/rows.ts";
import { openApiRows } from "../server/openapi-rows.ts";
import { badgeScriptRow, pageRows } from "../server/page-rows.ts";
import { exportRows } from "../service/batch-exports/rows.ts";
import { createDecisionBook } from "../service/flags/decision-book.ts";
import { flagRows } from "../service/flags/rows.ts";
import { boardRows } from "../service/management/dashboards/board-rows.ts";
import { worldRows } from "../service/management/world-rows.ts";
import { queryRows } from "../service/query/rows.ts";
import { sessionRows } from "../sessions/rows.ts";
import { badgeRows } from "../state/journal/badge-rows.ts";
import { histogramRows } from "../state/journal/histogram-rows.ts";
import { sdkRows } from "../state/journal/sdk-rows.ts";
import { totalRows } from "../state/journal/total-rows.ts";
import { requestHarRows } from "../tapes/har/request-rows.ts";
import type { Recordings, TapePlayer } from "../tapes/ports.ts";
import { recordingRows, tapeRows } from "../tapes/rows.ts";
import type { AssertionPorts } from "./assertion-rows.ts";
import { problemRows } from "./problems.ts";

type PortsOf<Rows> = Rows extends (ports: infer Ports) => Endpoint[] ? Ports : never;

/** What the rows need, as each slice declares it. */
export type ControlPorts = AssertionPorts &
  PortsOf<typeof stateRows> &
  PortsOf<typeof snapshotRows> &
  PortsOf<typeof clockRows> &
  PortsOf<typeof totalRows> &
  PortsOf<typeof histogramRows> &
  PortsOf<typeof problemRows> &
  PortsOf<typeof exceptionRows> &
  PortsOf<typeof peopleRows> &
  PortsOf<typeof flagRows> &
  PortsOf<typeof answerRows> &
  PortsOf<typeof exportRows> &
  PortsOf<typeof lintRows> &
  PortsOf<typeof worldRows> &
  PortsOf<typeof boardRows> &
  PortsOf<typeof proxyRows> &
  PortsOf<typeof queryRows> &
  PortsOf<typeof mcpRows> & {
    readonly faults: FaultRules;
    readonly tapes: TapePlayer;
    readonly recordings: Recordings;
  };

/** Every endpoint below /__sim that is not in assertion-rows.ts. */
export function controlEndpoints(ports: ControlPorts, rules: GuardRules): Endpoint[] {
  const decisions = createDecisionBook(ports.log);
  return [
    ...healthRows(ports),
    ...guarded(
      [
        ...stateRows(ports),
        ...snapshotRows(ports),
        ...clockRows(ports),
        ...requestHarRows(ports),
        ...totalRows(ports),
        ...sdkRows(ports),
        ...histogramRows(ports),
        ...problemRows(ports),
        ...exceptionRows(ports),
        ...peopleRows(ports),
        ...journeyRows({ ...ports, decisions }),
        ...sessionRows(ports),
        ...flagRows(ports, decisions),
        ...faultRows(ports.faults),
        ...answerRows(ports),
        ...tapeRows(ports.tapes),
        ...exportRows(ports),
        ...lintRows(ports),
        ...recordingRows(ports.recordings),
        ...worldRows(ports),
        ...boardRows(ports),
        ...proxyRows(ports),
        ...queryRows(ports),
        ...mcpRows(ports),
        ...openApiRows(() => ports.endpoints()),
      ],
      rules,
    ),
    ...guardedPage([...pageRows(), llmsRow()], rules),
    ...guardedBadge([badgeScriptRow(), ...badgeRows(ports)], rules),
  ];
}
