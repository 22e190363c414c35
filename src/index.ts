export { version } from "./kernel/base/version.ts";
export { ControlError, ExpectationError } from "./kernel/call/errors.ts";
export { NotAwaitedError } from "./lab/assert/client-assertions.ts";
export type {
  EventPattern,
  EventQuery,
  Events,
  PropertiesPattern,
  Requests,
  Scope,
  SnapshotOptions,
  VerifyOptions,
  WaitOptions,
} from "./lab/assert/events-api.ts";
export type {
  Complaint,
  Count,
  Difference,
  DroppedSighting,
  NearMiss,
  Report,
  Sighting,
  Surroundings,
} from "./lab/assert/match/report-shapes.ts";
export type { Expectation, Pattern, Terms, Verdict } from "./lab/assert/match/types.ts";
export type { Clock, ClockFacts, Happened, Moment } from "./lab/clock/client.ts";
export type { BlockedCall, Guard, GuardOptions } from "./lab/egress/blocked-call.ts";
export { EgressError } from "./lab/egress/blocked-call.ts";
export type { Framework } from "./lab/egress/env-names.ts";
export type { AnswerPlace, AnswerQueue, Answers, ScriptedAnswer } from "./lab/faults/answers-client.ts";
export type {
  Fault,
  FaultOptions,
  FaultPreset,
  FaultPresetName,
  FaultRule,
  Faults,
} from "./lab/faults/client.ts";
export type { TrafficFigures } from "./lab/generate/figures.ts";
export type { GeneratedEvent } from "./lab/generate/generate.ts";
export type { Persona } from "./lab/generate/shapes.ts";
export type { LintFinding, LintPage } from "./lab/lint/shapes.ts";
export type { Groups, Persons, SimPerson } from "./lab/person-history/client.ts";
export { type LoadedScenario, readScenario, type ShippedScenario, shippedList } from "./lab/scenario/load.ts";
export { linesOf as problemLines, type ScenarioProblem } from "./lab/scenario/problems.ts";
export type { AuthoredScenario as Scenario, ScenarioLayer } from "./lab/scenario/schema.ts";
export { scenarioSchemaText } from "./lab/scenario/shipped.ts";
export type { ScenarioSource } from "./lab/scenario/source.ts";
export { scenarioStarter } from "./lab/scenario/starter.ts";
export type {
  ExportedState,
  ImportedState,
  ListedSnapshot,
  ResetOptions,
  ResetPart,
  RestoredSnapshot,
  Snapshot,
  StateClient,
} from "./lab/scenario/state/client.ts";
export type {
  RecordingFind,
  RecordingFindings,
  RecordingLoss,
  RecordingScope,
  SessionRecordings,
  StoredRecording,
  StoredSession,
} from "./lab/sessions/client.ts";
export type {
  LoadedTape,
  Recording,
  RecordingFacts,
  RecordingMode,
  RecordingOptions,
  TapeLedger,
  TapeOptions,
  Tapes,
} from "./lab/tapes/client.ts";
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
} from "./service/batch-exports/client.ts";
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
} from "./service/flags/client.ts";
export type { Project, ProjectOptions, SimClient, Tenant } from "./sim/client/api.ts";
export { type ConnectOptions, connectSim } from "./sim/client/connect.ts";
export {
  type FreeTrafficOptions,
  type GeneratedTraffic,
  generateTraffic,
  type SimTrafficOptions,
  type TrafficOptions,
} from "./sim/client/generate.ts";
export { checkData, type Damage } from "./sim/folder/check-folder.ts";
export {
  type CertificateAuthority,
  CertificateError,
  certificateAuthority,
} from "./sim/server/proxy/certificates.ts";
export { startSim } from "./sim/start-sim.ts";
export {
  type ClockSetting,
  type RedactionRule,
  type RedactionRules,
  type Sim,
  type SimOptions,
  StartError,
} from "./sim/types.ts";
export type { Dialect } from "./state/documents/dialect.ts";
export type { StoredEvent } from "./state/journal/event.ts";
export type { RequestQuery, SimRequest } from "./state/journal/request-shapes.ts";
export type { Finding, RequestSummary } from "./state/journal/request-summary.ts";
export type { EventSnapshot } from "./state/journal/snapshot-client.ts";
export type { RunVerdict } from "./testing/run-report/shapes.ts";
