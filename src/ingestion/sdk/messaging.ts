import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Reply } from "../../http/reply.ts";
import { SimError } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { isObject, own } from "../../kernel/json.ts";
import type { Desk } from "../../model/desk.ts";
import type { Project } from "../../model/world.ts";
import { answered, inProject } from "./answer.ts";
import { objectBodyOf, requiredText } from "./body.ts";
import { privateProject } from "./keys.ts";

/** posthog-node logs a warning's code and detail, so that nobody waits for the mail. */
const notDelivered = {
  code: "not_delivered",
  detail: "phx-sim kept the request and delivers nothing.",
  fix: "Look at the request in the journal.",
};

function send(call: Call, project: Project, desk: Desk): Reply {
  const body = objectBodyOf(call);
  requiredText(body.json, "to");
  return answered({ message_id: desk.ids.uuid(), replayed: false, warnings: [notDelivered] }, project, body);
}

/** The first 48 bits of a version 7 UUID are its time. */
const timeOf = (uuid: string): string =>
  new Date(Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16)).toISOString();

const isOurs = (uuid: string | undefined): uuid is string => isUuid(uuid) && uuid[14] === "7";

/** No mail is stored: one that was accepted stays queued for ever, and its id says since when. */
function status(call: Call, project: Project): Reply {
  const id = call.params.id;
  if (!isOurs(id)) throw new SimError("not_found", "Not found.");
  const at = timeOf(id);
  return answered({ id, status: "queued", created_at: at, status_at: at, reason: null }, project);
}

function setPreferences(call: Call, project: Project): Reply {
  const body = objectBodyOf(call);
  const identifier = requiredText(body.json, "identifier");
  const all = own(body.json, "all_marketing");
  const topics = own(body.json, "topics");
  return answered(
    {
      identifier,
      all_marketing: typeof all === "boolean" ? all : null,
      topics: isObject(topics) ? topics : {},
    },
    project,
    body,
  );
}

interface Row {
  method: string;
  tail: string;
  scope: string;
  summary: string;
  handle(call: Call, project: Project, desk: Desk): Reply;
}

const rows: readonly Row[] = [
  {
    method: "POST",
    tail: "/send/email",
    scope: "transactional_email:write",
    summary: "Accepts an email; nothing is delivered",
    handle: send,
  },
  {
    method: "GET",
    tail: "/emails/:id",
    scope: "transactional_email:read",
    summary: "Status of an accepted email",
    handle: status,
  },
  {
    method: "POST",
    tail: "/preferences",
    scope: "messaging_preference:write",
    summary: "Messaging preferences, answered as they were sent",
    handle: setPreferences,
  },
];

/** The endpoints of posthog-node's `emails`, with the answers that its reply parsers accept. */
export const messagingEndpoints = (desk: Desk): Endpoint[] =>
  rows.map(({ method, tail, scope, summary, handle }) => ({
    methods: [method],
    path: `/api/projects/:project_id/messaging${tail}`,
    family: "service",
    summary,
    scope,
    handle(call) {
      const project = privateProject(call, desk, scope);
      return inProject(project, () => handle(call, project, desk));
    },
  }));
