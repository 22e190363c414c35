import { z } from "zod";
import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { liveResource } from "../../../state/documents/resources.ts";
import { wireTime } from "../../../state/documents/time.ts";
import { found } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { invalid } from "../../api-frame/fields.ts";
import { inProject, managementRow, projectRoot } from "../../api-frame/row.ts";
import type { ManagementDesk } from "../desk.ts";
import { accessControlRows } from "./access-controls.ts";
import { actionRows } from "./action-rows.ts";
import { changeResource, kindRows, openResources, showResource } from "./kind-rows.ts";
import { resourceKinds } from "./kinds.ts";
import { surveys } from "./surveys.ts";

/** Endpoints that start and end surveys. */
function surveyRows(desk: ResourceDesk): Endpoint[] {
  const switching = (name: "launch" | "stop", field: "start_date" | "end_date", ended: string) =>
    managementRow<"project", JsonObject>(desk, {
      method: "POST",
      path: `${projectRoot}/surveys/:id/${name}`,
      summary: name === "launch" ? "Starts a survey now" : "Ends a survey now",
      access: inProject("survey:write"),
      reply: z.looseObject({ id: z.string() }),
      handle(request) {
        const { project, param } = request;
        const survey = found(liveResource(desk.worlds, "surveys", project.id, param("id").toLowerCase()));
        const { fields } = survey;
        const isPast = (it: Json | undefined) => typeof it === "string" && Date.parse(it) <= desk.clock.now();
        if (fields.archived === true) throw invalid(`Cannot ${name} an archived survey. Unarchive it first${ended}.`);
        if (name === "launch" && isPast(fields.end_date)) {
          throw invalid("Cannot launch a survey with end_date in the past. Extend the end_date first.");
        }
        if (isPast(fields[field])) return showResource(desk, surveys, survey);
        const change = { [field]: wireTime(desk.clock.now()) };
        return showResource(desk, surveys, changeResource(desk, surveys, request, survey, change));
      },
    });
  return [...switching("launch", "start_date", ""), ...switching("stop", "end_date", " if needed")];
}

export function resourceKindEndpoints(desk: ManagementDesk): Endpoint[] {
  const resources = openResources(desk);
  return [
    ...resourceKinds.flatMap((kind) => kindRows(desk, resources, kind)),
    ...actionRows(desk),
    ...surveyRows(desk),
    ...accessControlRows(desk),
  ];
}
