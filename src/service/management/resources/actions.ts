import { z } from "zod";
import { type JsonObject, objectsIn, textsIn } from "../../../kernel/base/json.ts";
import { boolean, choice, datetime, dictionary, list, text } from "../../../state/documents/lenient-fields.ts";
import { tidyTags } from "../../../state/documents/tags.ts";
import { invalid } from "../../api-frame/fields.ts";
import { resourceKind, type Writing } from "./kind.ts";
import { searchIn, siblingsOf, tagsIn } from "./resource-fields.ts";

const matching = () => choice(["contains", "regex", "exact"]).nullable().optional();

/** Upstream PostHog/posthog products/actions/backend/api/action.py, ActionStepJSONSerializer. */
const Step = z.object({
  event: z.string().nullable().optional(),
  properties: list(dictionary()).nullable().optional(),
  selector: text().nullable().optional(),
  tag_name: z.string().nullable().optional(),
  text: z.string().nullable().optional(),
  text_matching: matching(),
  href: z.string().nullable().optional(),
  href_matching: matching(),
  url: text().nullable().optional(),
  url_matching: matching(),
});

/** What a step has where nothing was sent. Upstream products/actions/backend/models/action.py, ActionStepJSON. */
const emptyStep = {
  event: null,
  properties: null,
  selector: null,
  tag_name: null,
  text: null,
  text_matching: null,
  href: null,
  href_matching: null,
  url: null,
  url_matching: "contains",
};

/** @throws SimError unique, blank */
function prepare(fields: JsonObject, writing: Writing): JsonObject {
  const { body, before, now } = writing;
  if (typeof body.name === "string" && body.name === "") {
    throw invalid("This field may not be blank.", "name", "blank");
  }
  const other = siblingsOf(writing, "actions").find((it) => it.fields.name === body.name);
  if (body.name !== undefined && body.name !== null && other) {
    const detail = `This project already has an action with this name, ID ${other.key}`;
    throw invalid(detail, "name", "unique");
  }
  return {
    ...fields,
    tags: tidyTags(textsIn(fields.tags)),
    ...(body.pinned_at && { pinned_at: before?.fields.pinned_at ?? now }),
  };
}

/** Actions: events by conditions. Upstream PostHog/posthog products/actions/backend/api/action.py. */
export const actions = resourceKind({
  kind: "actions",
  noun: "action",
  isOnlyStored: false,
  of: "project",
  scope: "action",
  key: "number",
  deletion: "always",
  limit: null,
  fields: {
    name: { write: text({ max: 400, blank: true }).nullable(), blank: null },
    description: { write: text({ blank: true }), blank: "" },
    tags: { write: list(text()), blank: [] },
    post_to_slack: { write: boolean(), blank: false },
    slack_message_format: { write: text({ max: 1200, blank: true }), blank: "" },
    steps: { write: list(Step), blank: [], show: z.array(Step.extend({ selector_regex: z.null() })) },
    deleted: { write: boolean(), blank: false },
    pinned_at: { write: datetime().nullable(), blank: null },
    _create_in_folder: { write: text({ blank: true }), show: false },
    is_calculating: { show: z.literal(false) },
    last_calculated_at: { show: z.string() },
    team_id: { show: z.int() },
    is_action: { show: z.literal(true) },
    bytecode_error: { show: z.null() },
    creation_context: { show: z.null() },
    user_access_level: { show: z.string() },
  },
  stamps: ["created_at", "created_by"],
  filters: [searchIn("name"), tagsIn],
  prepare,
  show: ({ steps, created_at = null }, { project }) => ({
    steps: objectsIn(steps).map((step) => ({ ...emptyStep, ...step, selector_regex: null })),
    is_calculating: false,
    last_calculated_at: created_at,
    team_id: project,
    is_action: true,
    bytecode_error: null,
    creation_context: null,
    user_access_level: "editor",
  }),
});
