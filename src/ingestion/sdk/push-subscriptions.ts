import type { Call } from "../../http/call.ts";
import { queryToken } from "../../http/credentials.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Reply } from "../../http/reply.ts";
import type { Desk } from "../../model/desk.ts";
import { answered, inProject } from "./answer.ts";
import { objectBodyOf, requiredText, textField } from "./body.ts";
import { projectOfToken } from "./keys.ts";

/** Fields without which the mobile SDKs' request means nothing. */
const required = ["distinct_id", "device_token"];

function subscribe(call: Call, desk: Desk): Reply {
  const body = objectBodyOf(call);
  const token = textField(body.json, "api_key") ?? textField(body.json, "token") ?? queryToken(call);
  const project = projectOfToken(desk, call, token);
  return inProject(project, () => {
    for (const field of required) requiredText(body.json, field);
    return answered({ status: "ok" }, project, body);
  });
}

/** POST and DELETE /api/push_subscriptions: checked and journaled; no push is ever sent. */
export const pushSubscriptionEndpoints = (desk: Desk): Endpoint[] => [
  {
    methods: ["POST", "DELETE"],
    path: "/api/push_subscriptions",
    family: "service",
    summary: "Registers or removes a device for push messages",
    handle: (call) => subscribe(call, desk),
  },
];
