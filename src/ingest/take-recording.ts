import { SimError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { atOnce, type Work } from "../kernel/work.ts";
import type { Desk } from "../model/desk.ts";
import type { EventFacts } from "../model/event.ts";
import type { Note } from "../model/traffic.ts";
import type { Item } from "./item.ts";
import type { Opened } from "./open.ts";
import { decodedLimits, isUsedUp, type Packet } from "./packet.ts";
import { personUuid } from "./person-uuid.ts";
import { propertiesOf, recordingEvent } from "./recording.ts";
import { admitAll, decodeInto, openInto, projectInto } from "./take-legacy.ts";

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
    if (typeof data !== "object" || data === null)
      throw invalid("replay event submitted without snapshot data");
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

/**
 * Takes in a request of session recordings: its items become one `$snapshot_items` record. The contract
 * does not know recordings, so that a bad one is refused in both dialects.
 * @throws SimError with the service's texts
 */
export function* takeRecording(desk: Desk, packet: Packet, note: Note): Work<void> {
  note.shape = "recording";
  const opened = openInto(yield* decodeInto(note, packet, decodedLimits.recording), packet.path);
  const project = projectInto(note, desk, opened, packet);
  const first = admitFirst(packet, opened);
  checkSnapshots(opened.items);
  const { uuid, time } = first;
  note.events = [
    isUsedUp(packet, "recordings") && project !== null
      ? { uuid, time, person: null, dropped: "over_quota" }
      : factsOf(desk, project, first),
  ];
  note.keys = [{ event: recordingEvent, distinct_id: first.distinct_id }];
}
