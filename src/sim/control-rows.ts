import { type GuardRules, guarded, guardedBadge, guardedPage } from "../kernel/http/control-access.ts";
import type { Endpoint } from "../kernel/http/endpoint.ts";
import { clockRows } from "../lab/clock/rows.ts";
import { exceptionRows } from "../lab/exceptions/rows.ts";
import { answerRows } from "../lab/faults/answer-rows.ts";
import { faultRows } from "../lab/faults/rows.ts";
import type { FaultRules } from "../lab/faults/rules.ts";
import { journeyRows } from "../lab/journeys/rows.ts";
import { lintRows } from "../lab/lint/rows.ts";
import { peopleRows } from "../lab/person-history/rows.ts";
import { proxyRows } from "../lab/proxy-check/rows.ts";
import { healthRows, snapshotRows, stateRows } from "../lab/scenario/state/rows.ts";
import { sessionRows } from "../lab/sessions/rows.ts";
import { requestHarRows } from "../lab/tapes/har/request-rows.ts";
import type { Recordings, TapePlayer } from "../lab/tapes/ports.ts";
import { recordingRows, tapeRows } from "../lab/tapes/rows.ts";
import { exportRows } from "../service/batch-exports/rows.ts";
import { createDecisionBook } from "../service/flags/decision-book.ts";
import { flagRows } from "../service/flags/rows.ts";
import { boardRows } from "../service/management/dashboards/board-rows.ts";
import { worldRows } from "../service/management/world-rows.ts";
import { queryRows } from "../service/query/rows.ts";
import { badgeRows } from "../state/journal/badge-rows.ts";
import { histogramRows } from "../state/journal/histogram-rows.ts";
import { sdkRows } from "../state/journal/sdk-rows.ts";
import { totalRows } from "../state/journal/total-rows.ts";
import { llmsRow, mcpRows } from "../tools/mcp/rows.ts";
import type { AssertionPorts } from "./assertion-rows.ts";
import { problemRows } from "./problems.ts";
import { openApiRows } from "./server/openapi-rows.ts";
import { badgeScriptRow, pageRows } from "./server/page-rows.ts";

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
