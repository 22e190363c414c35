import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Endpoint } from "../http/endpoint.ts";
import type { Reply } from "../http/reply.ts";
import type { ControlDesk } from "./desk.ts";

/** The page's file: beside `dist` in the package, beside `src` in the repository. */
function pageFile(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "ui", "index.html")) && dirname(folder) !== folder)
    folder = dirname(folder);
  return join(folder, "ui", "index.html");
}

/** Nothing but the page's own styles may run or load: captured data is hostile text. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Their names stay out of the page: users make them up. */
const faultBanner = (count: number): string =>
  `<p role="alert"><strong>${count === 1 ? "A fault is" : `${count} faults are`} in force</strong>: <a href="/__sim/faults">what goes wrong on purpose</a></p>`;

function pageText({ faults }: Pick<ControlDesk, "faults">): string {
  const page = readFileSync(pageFile(), "utf8");
  const count = faults.list().filter(({ state }) => state === "active").length;
  return count === 0 ? page : page.replace("<body>", `<body>${faultBanner(count)}`);
}

export const pageEndpoints = (desk: Pick<ControlDesk, "faults">): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/__sim",
    family: "control",
    summary: "The inspector page (for now: links to the control API)",
    handle: (): Reply => ({
      status: 200,
      headers: ["content-type", "text/html; charset=utf-8", "content-security-policy", policy],
      body: pageText(desk),
    }),
  },
];
