import { expectTypeOf } from "vitest";
import type * as exported from "../../src/control/exports/answers.ts";
import type * as flags from "../../src/control/flags/answers.ts";
import type { groupDetails } from "../../src/control/people/groups.ts";
import type { showGroup, showPerson } from "../../src/control/people/show.ts";
import type { ShownTimeline } from "../../src/control/people/timeline.ts";
import type { RecordingFacts } from "../../src/control/recording-port.ts";
import type { ShownRequestInFull } from "../../src/control/requests.ts";
import type { ShownTapes } from "../../src/control/tapes.ts";
import type { ShownExchange, ShownExchanges, ShownTapeFiles } from "../../src/control/tapes-shelf.ts";
import type { RequestInFull } from "../../ui/api/requests.ts";
import type { Run, RunWithLogs, ShownExport } from "../../ui/views/exports/answers.ts";
import type { Explanation, Flag, FlagInFull } from "../../ui/views/flags/answers.ts";
import type { Group, GroupDetails, Person, Timeline } from "../../ui/views/people/told.ts";
import type { Exchange, Exchanges, Recording, TapeFiles, TapesAnswer } from "../../ui/views/tapes/shape.ts";

// The page reads what the control API answers. The compiler checks this file (`npm run types`, part of `npm test`).

expectTypeOf<exported.ShownExportRun>().toExtend<Run>();
expectTypeOf<exported.ShownExportRunWithLogs>().toExtend<RunWithLogs>();
expectTypeOf<exported.ShownExport>().toExtend<ShownExport>();

expectTypeOf<flags.ShownFlag>().toExtend<Flag>();
expectTypeOf<flags.ShownFlagInFull>().toExtend<FlagInFull>();
expectTypeOf<flags.FlagExplanation>().toExtend<Explanation>();

expectTypeOf<ReturnType<typeof showPerson>>().toExtend<Person>();
expectTypeOf<ReturnType<typeof showGroup>>().toExtend<Group>();
expectTypeOf<ShownTimeline>().toExtend<Timeline>();
expectTypeOf<Awaited<ReturnType<typeof groupDetails>>>().toExtend<GroupDetails>();

expectTypeOf<ShownRequestInFull>().toExtend<RequestInFull>();

expectTypeOf<ShownTapes>().toExtend<TapesAnswer>();
expectTypeOf<ShownTapeFiles>().toExtend<TapeFiles>();
expectTypeOf<ShownExchanges>().toExtend<Exchanges>();
expectTypeOf<ShownExchange>().toExtend<Exchange>();
expectTypeOf<RecordingFacts>().toExtend<Recording>();
