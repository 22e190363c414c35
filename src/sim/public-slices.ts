import type { Slice } from "../kernel/http/slice.ts";
import { sdkSlice } from "../service/capture/sdk/rows.ts";
import { furtherCaptureSlice } from "../service/capture/slice.ts";
import { evaluationSlice } from "../service/flags/endpoint/flags-rows.ts";
import type { SlicePorts } from "./ports.ts";

/** The public endpoints apart from the capture rows, which a start loads first. */
export const publicSlices: readonly Slice<SlicePorts>[] = [furtherCaptureSlice, evaluationSlice, sdkSlice];
