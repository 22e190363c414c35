import type { Slice } from "../kernel/http/slice.ts";
import { clockSlice } from "../lab/clock/rows.ts";
import { exceptionSlice } from "../lab/exceptions/rows.ts";
import { answerSlice } from "../lab/faults/answer-rows.ts";
import { faultSlice } from "../lab/faults/rows.ts";
import { journeySlice } from "../lab/journeys/rows.ts";
import { lintSlice } from "../lab/lint/rows.ts";
import { peopleSlice } from "../lab/person-history/rows.ts";
import { proxySlice } from "../lab/proxy-check/rows.ts";
import { stateSlice } from "../lab/scenario/state/rows.ts";
import { sessionSlice } from "../lab/sessions/rows.ts";
import { requestHarSlice } from "../lab/tapes/har/request-har.ts";
import { recordingSlice, tapeSlice } from "../lab/tapes/rows.ts";
import { exportSlice } from "../service/batch-exports/rows.ts";
import { flagSlice } from "../service/flags/rows.ts";
import { boardSlice } from "../service/management/dashboards/board-rows.ts";
import { worldSlice } from "../service/management/world-rows.ts";
import { querySlice } from "../service/query/rows.ts";
import { badgeSlice } from "../state/journal/badge-rows.ts";
import { histogramSlice } from "../state/journal/histogram-rows.ts";
import { senderSlice } from "../state/journal/sdk-rows.ts";
import { totalSlice } from "../state/journal/total-rows.ts";
import { llmsSlice, mcpSlice } from "../tools/mcp/rows.ts";
import type { SlicePorts } from "./ports.ts";
import { problemSlice } from "./problems.ts";
import { openApiSlice } from "./server/openapi-rows.ts";
import { badgeScriptSlice, pageSlice } from "./server/page-rows.ts";

/** Everything below /__sim that is not in assertion-slices.ts. */
export const controlSlices: readonly Slice<SlicePorts>[] = [
  stateSlice,
  clockSlice,
  requestHarSlice,
  totalSlice,
  senderSlice,
  histogramSlice,
  problemSlice,
  exceptionSlice,
  peopleSlice,
  journeySlice,
  sessionSlice,
  flagSlice,
  faultSlice,
  answerSlice,
  tapeSlice,
  exportSlice,
  lintSlice,
  recordingSlice,
  worldSlice,
  boardSlice,
  proxySlice,
  querySlice,
  mcpSlice,
  openApiSlice,
  pageSlice,
  llmsSlice,
  badgeScriptSlice,
  badgeSlice,
];
