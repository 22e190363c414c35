import { type HandleScope, queryText } from "../../kernel/call/call.ts";
import { keysOf, knownOptions } from "../../kernel/call/option-keys.ts";
import { recordingEvent } from "../../state/journal/items.ts";
import type { undecidable } from "./rrweb.ts";
import type {
  RecordingFindings,
  RecordingListQuery,
  StoredRecording,
  StoredRecordingPage,
  StoredSession,
} from "./shapes.ts";

export type {
  RecordingFind,
  RecordingFindings,
  RecordingLoss,
  StoredRecording,
  StoredSession,
} from "./shapes.ts";

export interface RecordingScope {
  /** Id of a project (default: the handle's own; for a sim all). */
  project?: number;
  session?: string;
  /** What may stay unread, because it cannot hold the values, such as images that are part of the app. */
  allowUnread?: readonly UndecidableKind[];
}

export type UndecidableKind = (typeof undecidable)[number];

export interface SessionRecordings {
  /** The sessions with a recording, newest first. @throws ControlError */
  list(query?: RecordingListQuery): Promise<StoredSession[]>;
  /** What the recording of a session holds, and what cannot be read of it. @throws ControlError not_found */
  show(session: string, options?: { project?: number }): Promise<StoredRecording>;
  /**
   * Searches recordings for values such as e-mail addresses and card numbers; a find names its value by number.
   * @throws ControlError not_found, invalid_input
   */
  search(values: readonly string[], scope?: RecordingScope): Promise<RecordingFindings>;
  /** True once a part arrives after this cursor (`events.mark()`); false if none does within `waitMs`, at most 60,000. */
  grows(since: number, waitMs: number): Promise<boolean>;
}

export const recordingsBy = ({ call, project }: HandleScope): SessionRecordings =>
  withOptions({
    list: async (query = {}) => {
      const path = `recordings${queryText({ limit: 1_000, ...query, project: project ?? query.project })}`;
      return (await call<StoredRecordingPage>("GET", path)).recordings;
    },
    show: (session, options = {}) =>
      call("GET", `recordings/${encodeURIComponent(session)}${queryText({ project: project ?? options.project })}`),
    search: (values, scope = {}) =>
      call("POST", "recordings/search", {
        values,
        session: scope.session,
        project: project ?? scope.project,
        allow_unread: scope.allowUnread,
      }),
    grows: async (since, waitMs) => {
      const query = { event: recordingEvent, since, limit: 1, wait_ms: Math.min(waitMs, 60_000), project };
      return (await call<{ events: unknown[] }>("GET", `events${queryText(query)}`)).events.length > 0;
    },
  });

const withOptions = knownOptions<SessionRecordings>("recordings", {
  list: [{ except: [] }],
  show: { 1: ["project"] },
  search: { 1: keysOf<RecordingScope>({ project: true, session: true, allowUnread: true }) },
});
