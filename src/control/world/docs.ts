import type { EndpointDocs } from "../../http/endpoint.ts";
import {
  anything,
  boolean,
  described,
  exact,
  integer,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  titled,
} from "../../http/json-schema.ts";
import { docsOf, parameter, whole } from "../docs-row.ts";

const counts = exact({
  dashboards: integer,
  insights: integer,
  feature_flags: integer,
  cohorts: integer,
  batch_exports: integer,
  surveys: integer,
});

const project = exact({
  id: integer,
  name: text,
  organization: text,
  api_key: text,
  secret_api_key: described(text, "Masked"),
  timezone: text,
  adopted: described(boolean, "Made from a key that nobody knew"),
  ephemeral: described(boolean, "Made for one test"),
  counts,
});

const organization = exact({
  id: text,
  name: text,
  slug: text,
  created_at: text,
  members: listOf(
    exact({ user: integer, name: text, email: text, level: oneOf("member", "admin", "owner") }),
  ),
  projects: listOf(project),
});

const personalKey = exact({
  id: text,
  label: text,
  key: described(text, "Masked"),
  owner: text,
  scopes: listOf(text),
  limited_to: described(listOf(text), "Names of organizations and projects; empty: no limit"),
  created_at: text,
});

const difference = exact({ id: text, topic: text, documented: text, production: text, source: text });

const tile = exact({
  id: integer,
  kind: oneOf("insight", "text"),
  title: text,
  color: nullable(text),
  place: nullable(exact({ x: number, y: number, w: number, h: number })),
  query: anything,
});

const dashboard = exact({
  id: integer,
  project: integer,
  name: nullable(text),
  description: text,
  pinned: boolean,
  tags: listOf(text),
  restricted: boolean,
  collaborators: listOf(text),
  shared: boolean,
  created_at: text,
  tiles: listOf(tile),
});

/** The world's rows, by method and path. */
export const worldDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/world": docsOf(
    "The accounts, and the dialect",
    titled(
      "WorldSummary",
      exact({
        organizations: listOf(organization),
        personal_api_keys: listOf(personalKey),
        dialect: exact({
          current: oneOf("documented", "production"),
          differences: listOf(difference),
        }),
      }),
    ),
  ),
  "GET /__sim/world/dashboards": docsOf(
    "Dashboards that are not deleted",
    titled("DashboardSummaries", exact({ dashboards: listOf(dashboard), count: integer })),
    {
      errors: [400],
      query: [
        parameter("project", "Only this project's", whole(0)),
        parameter("limit", "Most results, 100 unless told", whole(1, 10_000)),
        parameter("offset", "Index of the first result", whole(0)),
      ],
    },
  ),
  "GET /__sim/world/keys/:id": docsOf("The key", titled("RevealedKey", exact({ id: text, key: text })), {
    errors: [404],
  }),
};
