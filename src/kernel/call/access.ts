import { type JsonObject, textIn } from "../base/json.ts";

export interface SimAccess {
  readonly url: string;
  readonly apiKey: string;
  readonly secretApiKey: string;
  readonly personalApiKey: string;
  readonly projectId: number;
  /** The inspector at this address, with the token of the sim's own link if it has one. */
  readonly inspectorUrl: string;
}

export function accessOf(url: string, facts: JsonObject): SimAccess {
  const link = textIn(facts, "inspector_url");
  return {
    url,
    apiKey: textIn(facts, "project_api_key"),
    secretApiKey: textIn(facts, "secret_api_key"),
    personalApiKey: textIn(facts, "personal_api_key"),
    projectId: typeof facts.project_id === "number" ? facts.project_id : 0,
    inspectorUrl: `${url}/__sim/${link.includes("#t=") ? link.slice(link.indexOf("#t=")) : ""}`,
  };
}
