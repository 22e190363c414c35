import { SimError } from "../../kernel/base/errors.ts";
import type { Json } from "../../kernel/base/json.ts";
import { atOnce, inSlices, type Work } from "../../kernel/base/work.ts";
import type { Call } from "../../kernel/http/call.ts";
import { type Endpoint, recordingBodyLimit } from "../../kernel/http/endpoint.ts";
import { json, type Reply } from "../../kernel/http/reply.ts";
import type { EventFacts } from "../../state/journal/event.ts";
import { type Opened, propertiesOf, recordingEvent } from "../../state/journal/items.ts";
import { personUuid } from "../../state/persons/person.ts";
import type { Desk } from "./desk.ts";
import type { Item } from "./item.ts";
import { decodedLimits, isUsedUp, type Packet } from "./packet.ts";
import { accepted, admitAll, decodeBody, findProject, openBody } from "./take-legacy.ts";

const invalid = (text: string): SimError => new SimError("invalid_recording", text);

const sessionShape = /^[A-Za-z0-9-]{1,70}$/;

function checkSession(session: Json | undefined): void {
  if (session === undefined) throw invalid("replay event submitted without session id");
  if (typeof session !== "string" || !sessionShape.test(session)) {
    throw invalid("replay event has invalid session id");
  }
}

/** The first item speaks for all; each has to bring data. Upstream capture, events/recordings.rs. */
function checkSnapshots(items: readonly Json[]): void {
  checkSession(propertiesOf(items[0]).$session_id);
  for (const item of items) {
    const data = propertiesOf(item).$snapshot_data;
    if (typeof data !== "object" || data === null) throw invalid("replay event submitted without snapshot data");
  }
}

/** Recordings make no person; they name the one whose id they carry. */
function factsOf(desk: Desk, project: number | null, first: Item): EventFacts {
  const { uuid, time, distinct_id } = first;
  if (project === null) return { uuid, time, person: null, dropped: "unknown_project_key" };
  if (uuid !== null && desk.seen(project, uuid)) {
    return { uuid, time, person: null, dropped: "duplicate_event_uuid" };
  }
  const person = desk.people.personOf(project, distinct_id)?.uuid ?? personUuid(project, distinct_id);
  return { uuid: uuid ?? desk.ids.uuid(), time, person, mode: "propertyless" };
}

function admitFirst(packet: Packet, opened: Opened): Item {
  const [first] = atOnce(admitAll({ ...opened, items: opened.items.slice(0, 1) }, packet, "production"));
  if (first?.dropped === undefined && first !== undefined) return first;
  throw invalid("replay event submitted without snapshot data");
}

/** The items become one `$snapshot_items` record; a bad request is refused in both dialects. @throws SimError */
function* takeRecording(desk: Desk, packet: Packet): Work<void> {
  const { record } = packet;
  record.shape = "recording";
  const opened = openBody((yield* decodeBody(packet, decodedLimits.recording)).value, packet.path);
  const project = findProject(desk, opened, packet);
  const first = admitFirst(packet, opened);
  checkSnapshots(opened.items);
  const { uuid, time } = first;
  record.events = [
    isUsedUp(packet, "recordings") && project !== null
      ? { uuid, time, person: null, dropped: "over_quota" }
      : factsOf(desk, project, first),
  ];
  record.keys = [{ event: recordingEvent, distinct_id: first.distinct_id }];
}

/** posthog-js pauses its recording when it gets this. Upstream capture, api.rs. */
const overQuota = { status: "Ok", quota_limited: ["recordings"] };

function* answerRecording(desk: Desk, call: Call): Work<Reply> {
  yield* takeRecording(desk, call);
  return isUsedUp(call, "recordings") ? json(overQuota) : accepted(call);
}

export const recordingEndpoint = (desk: Desk): Endpoint => ({
  methods: ["POST", "GET"],
  path: "/s",
  family: "capture",
  summary: "Captures session recordings",
  bodyLimit: recordingBodyLimit,
  handle: (call) => inSlices(answerRecording(desk, call)),
});
