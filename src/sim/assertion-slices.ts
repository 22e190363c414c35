import type { Slice } from "../kernel/http/slice.ts";
import { contactSlice } from "../lab/assert/contact-rows.ts";
import { assertSlice } from "../lab/assert/rows.ts";
import { searchSlice } from "../lab/assert/search-rows.ts";
import { projectSlice } from "../lab/test-projects/rows.ts";
import { eventSlice } from "../state/journal/event-rows.ts";
import { feedSlice } from "../state/journal/feed/rows.ts";
import { requestSlice } from "../state/journal/request-rows.ts";
import type { SlicePorts } from "./ports.ts";

/** What test suites use of the control API: a file of tests loads these, and rarely the others. */
export const assertionSlices: readonly Slice<SlicePorts>[] = [
  searchSlice,
  eventSlice,
  assertSlice,
  contactSlice,
  projectSlice,
  requestSlice,
  feedSlice,
];
