import { z } from "zod";
import { isObject, type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { wireTime } from "../../../state/documents/time.ts";
import { membershipOf } from "../../api-frame/access.ts";
import { boolean, choice, dictionary, integer, invalid, list, text } from "../../api-frame/fields.ts";
import { showUserOf, UserShape } from "../../api-frame/users.ts";
import type { ResourceKind, Writing } from "./kind.ts";
import { checkReference, fieldFilter, searchIn } from "./resource-fields.ts";

/** @throws SimError does_not_exist, invalid_input */
function checkSubscribers({ body, desk, request }: Writing): void {
  const { subscribed_users: users = [] } = body;
  for (const user of Array.isArray(users) ? users : []) {
    const id = Number(user);
    if (!desk.worlds.get("users", id)) {
      throw invalid(`Invalid pk "${id}" - object does not exist.`, "subscribed_users", "does_not_exist");
    }
    if (!membershipOf(desk, request.organization.id, id)) {
      const detail = "User does not belong to the same organization as the alert's team.";
      throw invalid(detail, "subscribed_users");
    }
  }
}

const unitLengths: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The end of a snooze: a time, or `2h` or `1d` from now, cut to whole hours or days. @throws SimError invalid_input */
function snoozeEnd(text: string, now: number): string {
  const [, count = "", unit = ""] = /^\+?(\d{1,6})([hdw])$/.exec(text) ?? [];
  const length = unitLengths[unit];
  const time = length === undefined ? Date.parse(text) : now + Number(count) * length;
  if (Number.isNaN(time)) throw invalid("Enter a time, or a duration such as 2h.", "snoozed_until");
  return wireTime(length === undefined ? time : time - (time % Math.min(length, 86_400_000)));
}

const objectIn = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

const hasBound = (threshold: Json | undefined): boolean => {
  const configuration = isObject(threshold) ? own(threshold, "configuration") : undefined;
  const bounds = isObject(configuration) ? own(configuration, "bounds") : undefined;
  return isObject(bounds) && [own(bounds, "lower"), own(bounds, "upper")].some((it) => it != null);
};

function prepare(fields: JsonObject, writing: Writing): JsonObject {
  const { body, before, desk } = writing;
  checkReference(writing, "insight", "insights");
  checkSubscribers(writing);
  if (body.threshold !== undefined && fields.detector_config === null && !hasBound(body.threshold)) {
    const detail = "At least one threshold bound (lower or upper) must be set.";
    throw invalid(detail, "threshold__configuration");
  }
  const { snoozed_until: snooze } = body;
  return {
    ...fields,
    threshold: { ...objectIn(before?.fields.threshold), ...objectIn(fields.threshold) },
    ...(typeof snooze === "string" && { snoozed_until: snoozeEnd(snooze, desk.clock.now()), state: "Snoozed" }),
    ...(snooze === null && { state: "Not firing" }),
  };
}

/** Alerts of insights. Upstream PostHog/posthog products/alerts/backend/api/alert.py. */
export const alerts: ResourceKind = {
  kind: "alerts",
  noun: "alert",
  isOnlyStored: true,
  of: "project",
  scope: "alert",
  deletion: "hard",
  fields: {
    insight: integer(),
    name: text({ blank: true }).optional(),
    subscribed_users: list(integer()),
    threshold: z.looseObject({ configuration: z.looseObject({}) }),
    condition: dictionary().nullable().optional(),
    enabled: boolean().optional(),
    config: dictionary().nullable().optional(),
    detector_config: dictionary().nullable().optional(),
    calculation_interval: choice(["real_time", "every_15_minutes", "hourly", "daily", "weekly", "monthly"]).optional(),
    snoozed_until: text().nullable().optional(),
    skip_weekend: boolean().nullable().optional(),
    schedule_restriction: dictionary().nullable().optional(),
    investigation_agent_enabled: boolean().optional(),
    investigation_gates_notifications: boolean().optional(),
    investigation_inconclusive_action: choice(["notify", "suppress"]).optional(),
  },
  initial: {
    name: "",
    condition: {},
    enabled: true,
    config: null,
    detector_config: null,
    calculation_interval: "daily",
    snoozed_until: null,
    skip_weekend: false,
    schedule_restriction: null,
    investigation_agent_enabled: false,
    investigation_gates_notifications: false,
    investigation_inconclusive_action: "notify",
    state: "Not firing",
    last_notified_at: null,
    last_checked_at: null,
    next_check_at: null,
    last_value: null,
    checks: [],
  },
  stamps: ["created_at", "created_by"],
  shown: {
    insight: z.looseObject({ id: z.int() }).nullable(),
    subscribed_users: z.array(UserShape),
    state: z.string(),
    last_notified_at: z.null(),
    last_checked_at: z.null(),
    next_check_at: z.null(),
    last_value: z.null(),
    checks: z.array(z.json()),
  },
  filters: [
    fieldFilter("insight", z.int().describe("Only those of this insight")),
    fieldFilter("insight_id", z.int().describe("Only those of this insight"), "insight"),
    searchIn("name"),
  ],
  prepare,
  show({ insight: id, subscribed_users: users, threshold, created_at = null }, { project, key }, desk) {
    const insight = desk.worlds.get("insights", Number(id));
    const { project: _, ...shown } = { ...insight, created_by: showUserOf(desk, insight?.created_by ?? null) };
    return {
      insight: insight?.project === project ? (shown as JsonObject) : null,
      threshold: { id: key, created_at, name: "", ...objectIn(threshold) },
      subscribed_users: (Array.isArray(users) ? users : []).flatMap((it) => showUserOf(desk, Number(it)) ?? []),
    };
  },
};
