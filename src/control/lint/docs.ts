import type { EndpointDocs } from "../../http/endpoint.ts";
import { described, exact, integer, listOf, nullable, oneOf, text, titled } from "../../http/json-schema.ts";
import { lintCodes } from "../../lint/codes.ts";
import { docsOf, parameter, whole } from "../docs-row.ts";

const finding = titled(
  "LintFinding",
  exact({
    code: oneOf(...Object.keys(lintCodes)),
    severity: described(oneOf("warning", "hint"), "hint: it may be meant so"),
    sentence: text,
    fix: text,
    project: integer,
    event: described(nullable(text), "Name of the event; null: the request is meant"),
    detail: text,
    first_seq: nullable(integer),
    last_seq: nullable(integer),
    count: described(integer, "How often it was seen"),
    n: described(integer, "Number of the last request that showed it"),
  }),
);

/** The linter's row, by method and path. */
export const lintDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/lint": docsOf(
    "Findings, one for each code, project, event and subject, in the order of their first times",
    titled(
      "LintPage",
      exact({
        findings: listOf(finding),
        looked: described(integer, "Events that were looked at since the start, or the last clear"),
        skipped: described(integer, "Events that were left out because too many were new"),
        behind: described(integer, "Events still to be looked at; not 0 only with `max_ms`"),
        cursor: described(integer, "The last event that was looked at"),
      }),
    ),
    {
      errors: [400],
      query: [
        parameter("project", "Only this project's", whole(0)),
        parameter("max_ms", "Looks at what is new for about so long, then answers", whole(1, 60_000)),
      ],
    },
  ),
};
