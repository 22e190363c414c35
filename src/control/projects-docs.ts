import type { EndpointDocs } from "../http/endpoint.ts";
import {
  anyOf,
  boolean,
  described,
  exact,
  integer,
  listOf,
  mapOf,
  nullable,
  text,
  time,
  titled,
} from "../http/json-schema.ts";
import { bodyErrors, bodyOf, docsOf, whole } from "./docs-row.ts";

const keys = {
  id: integer,
  name: text,
  api_key: described(text, "Public key, `phc_…`"),
  secret_api_key: described(text, "For flag definitions and remote config, `phs_…`"),
};

const made = titled(
  "TestProject",
  exact({
    ...keys,
    personal_api_key: described(text, "May do everything in this project and nothing elsewhere, `phx_…`"),
    host: described(text, "What SDKs take as host"),
    env: described(mapOf(text), "The variables that point an app at it, for all frameworks"),
  }),
);

const shown = titled(
  "ShownProject",
  exact({
    ...keys,
    personal_api_key: described(nullable(text), "A key that leads to this project only"),
    ephemeral: described(boolean, "Made for a test: it can be deleted here, and a whole reset drops it"),
    adopted: described(boolean, "Made of an unknown key (--adopt-tokens)"),
    created_at: time,
  }),
);

const asked = docsOf("The project", made, {
  errors: [...bodyErrors, 404, 409],
  body: bodyOf({
    name: described(text, "Shown in reports, e.g. the test's name; need not be unique"),
    like: described(
      nullable(whole(1)),
      "Number of the project whose settings, flags, cohorts (with the stored persons that static ones name), group types, surveys and prompts it gets; the first one unless told, null for none. Events and all other persons are not taken over",
    ),
    flags: described(mapOf(anyOf(boolean, text)), "Key → true, false or a variant, for everybody"),
  }),
});
const { 200: created = { description: "" }, ...refusals } = asked.replies;

/** The rows of projects, by method and path. */
export const projectDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/projects": docsOf("The projects", exact({ projects: listOf(shown) })),
  "POST /__sim/projects": { ...asked, replies: { 201: created, ...refusals } },
  "DELETE /__sim/projects/:project": docsOf("Its number", exact({ deleted: integer }), {
    errors: [404, 409],
  }),
};
