export type { AnswerPlace, AnswerQueue, Answers, ScriptedAnswer } from "./client/answers.ts";
export type {
  EventPattern,
  EventQuery,
  Events,
  Groups,
  LintFinding,
  LintPage,
  Persons,
  Project,
  ProjectOptions,
  PropertiesPattern,
  RequestQuery,
  Requests,
  Scope,
  SimClient,
  SimPerson,
  SimRequest,
  Tenant,
  VerifyOptions,
  WaitOptions,
} from "./client/api.ts";
export { NotAwaitedError } from "./client/assertions.ts";
export type { Clock, ClockFacts, Happened, Moment } from "./client/clock.ts";
export { type ConnectOptions, connectSim } from "./client/connect.ts";
export { ControlError, ExpectationError } from "./client/errors.ts";
export type {
  Export,
  ExportFile,
  ExportLog,
  ExportOutcome,
  ExportPerformed,
  ExportRun,
  ExportRunQuery,
  ExportRunWithLogs,
  Exports,
  ScriptedRun,
} from "./client/exports.ts";
export type {
  Fault,
  FaultOptions,
  FaultPreset,
  FaultPresetName,
  FaultRule,
  Faults,
} from "./client/faults.ts";
export type {
  DecisionQuery,
  ExplainOptions,
  FlagDecision,
  FlagDistribution,
  FlagExplanation,
  FlagOverride,
  FlagOverrideSet,
  FlagSubject,
  FlagSummary,
  Flags,
  OfProject,
  OverrideOptions,
  ServedOptions,
} from "./client/flags.ts";
export type { Recording, RecordingFacts, RecordingMode, RecordingOptions } from "./client/recording.ts";
export type {
  ExportedState,
  ImportedState,
  ListedSnapshot,
  ResetOptions,
  ResetPart,
  RestoredSnapshot,
  Snapshot,
  StateClient,
} from "./client/state.ts";
export type { LoadedTape, TapeLedger, TapeOptions, Tapes } from "./client/tapes.ts";
export { EgressError } from "./guard/errors.ts";
export type { BlockedCall, Guard, GuardOptions } from "./guard/types.ts";
export type { Framework } from "./kernel/env-names.ts";
export { version } from "./kernel/version.ts";
export type {
  Complaint,
  Count,
  Difference,
  DroppedSighting,
  Expectation,
  NearMiss,
  Pattern,
  Report,
  Sighting,
  Surroundings,
  Terms,
  Verdict,
} from "./match/types.ts";
export type { Dialect } from "./model/dialect.ts";
export type { StoredEvent } from "./model/event.ts";
export { scenarioFromTape } from "./scenario/from-tape/offer.ts";
export type { FromTapeOptions, TapeScenario } from "./scenario/from-tape/types.ts";
export { type LoadedScenario, readScenario, type ScenarioSource } from "./scenario/load.ts";
export { type ShippedScenario, scenarioSchemaText, scenarioStarter, shippedList } from "./scenario/offers.ts";
export { linesOf as problemLines, type ScenarioProblem } from "./scenario/problems.ts";
export type { Scenario, ScenarioLayer } from "./scenario/schema.ts";
export { type CertificateAuthority, CertificateError, certificateAuthority } from "./sim/certificates.ts";
export { checkData, type Damage } from "./sim/check-data.ts";
export {
  type ClockSetting,
  type Finding,
  type RequestSummary,
  type Sim,
  type SimOptions,
  StartError,
  startSim,
} from "./sim.ts";
