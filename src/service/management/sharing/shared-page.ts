import { readFile } from "node:fs/promises";
import { z } from "zod";
import { builtFile, htmlWithData } from "../../../kernel/base/built-file.ts";
import { onFirstUse } from "../../../kernel/base/on-first-use.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Reply } from "../../../kernel/http/reply.ts";
import { DashboardDetail } from "../dashboards/dashboard-views.ts";

export const SharedData = z
  .object({
    type: z.enum(["scene", "embed"]),
    accessToken: z.string(),
    dashboard: DashboardDetail,
    themes: z.array(z.json()),
    whitelabel: z.literal(true).optional(),
    noHeader: z.literal(true).optional(),
    showInspector: z.literal(true).optional(),
    legend: z.literal(true).optional(),
    detailed: z.literal(true).optional(),
    hideExtraDetails: z.literal(true).optional(),
    theme: z.enum(["light", "dark", "system"]).optional(),
  })
  .meta({ title: "SharedDashboard" });
export type SharedData = z.infer<typeof SharedData>;

/** What the page of a shared dashboard gets: the dashboard, or a message. */
type SharedPageData =
  /** `source`: where the page reads the same data again; null: it does not. */
  (SharedData & { readonly source: string | null }) | { readonly notice: { title: string; text: string } };

/** A host of a content security policy; addresses in brackets cannot be written in one. */
const hostShape = /^[\w.-]+(?::\d+)?$/;

/**
 * The page may connect to its own data and to nothing else of the sim: neither the control API nor the management API.
 * Its scripts and styles are in the policy that the page itself has.
 */
function policyOf(connections: string, isFrameable: boolean): string {
  const rules = [`connect-src ${connections}`, "base-uri 'none'", "form-action 'none'"];
  return [...rules, ...(isFrameable ? [] : ["frame-ancestors 'none'"])].join("; ");
}

interface SharedPage {
  readonly call: Call;
  readonly data: SharedPageData;
  readonly status?: number;
  /** True if other pages may show it in a frame. */
  readonly isFrameable: boolean;
}

/** Pages for people: one file each, with its code, its styles and its data. */
export function openSharedPages() {
  const template = onFirstUse(async () => readFile(builtFile("shared/shared.html"), "utf8"));
  return async ({ call, data, status = 200, isFrameable }: SharedPage): Promise<Reply> => {
    const { host = "" } = call.headers;
    const source = "source" in data && hostShape.test(host) ? data.source : null;
    return {
      status,
      headers: [
        ...["content-type", "text/html; charset=utf-8"],
        ...["content-security-policy", policyOf(source === null ? "'none'" : host + source, isFrameable)],
        ...["referrer-policy", "no-referrer"],
        ...["x-content-type-options", "nosniff"],
        ...["cache-control", "no-store"],
        ...(isFrameable ? [] : ["x-frame-options", "DENY"]),
      ],
      body: htmlWithData(await template(), "notice" in data ? data : { ...data, source }),
    };
  };
}
