import { maskKeys, maskTargetSecrets } from "../kernel/secrets.ts";
import type { Miss } from "../tape/types.ts";

/** No status of HTTP: nobody takes it for the service's. */
export const missStatus = 599;

const valueLength = 120;
const mostPaths = 5;

const cut = (text: string): string =>
  text.length > valueLength ? `${text.slice(0, valueLength - 1)}…` : text;

type Nearest = Miss["nearest"][number];
type Differing = Nearest["differing"][number];

const differingText = ({ path, recorded, asked }: Differing): string =>
  `${path} is ${cut(recorded)} on the tape, ${cut(asked)} here`;

function nearestText({ i, method, url, differing }: Nearest): string {
  const paths = differing.slice(0, mostPaths).map(differingText);
  const more = differing.length - paths.length;
  const told = [...paths, ...(more > 0 ? [`… and ${more} more`] : [])].join("; ");
  return `#${i} ${method} ${cut(pathOf(url))}${told && `: ${told}`}`;
}

/** Without scheme and host: those say nothing about what differs. */
const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]*/i, "") || "/";

/** What was asked for in vain. */
interface Unanswered {
  readonly method: string;
  readonly target: string;
}

/** Why the tape has no answer: a line for each of the nearest exchanges. Keys are masked. */
export function missLines(tape: string, { method, target }: Unanswered, { route, nearest }: Miss): string[] {
  const head = `the tape ${tape} has no answer for ${method} ${cut(maskTargetSecrets(target))} (route ${cut(route)})`;
  if (nearest.length === 0) return [maskKeys(`${head}; nothing on it is like it`)];
  return [`${head}; nearest:`, ...nearest.map((it) => `  ${nearestText(it)}`)].map(maskKeys);
}

/** The same in one line. */
export const missText = (tape: string, asked: Unanswered, miss: Miss): string =>
  missLines(tape, asked, miss)
    .map((line) => line.trim())
    .join(" ");

/** An answer in the shape of the service's errors that says what is nearest. */
export const missBody = (tape: string, asked: Unanswered, miss: Miss): string =>
  JSON.stringify({
    type: "server_error",
    code: "tape_miss",
    detail: missText(tape, asked, miss),
    attr: null,
    route: miss.route,
    nearest: JSON.parse(maskKeys(JSON.stringify(miss.nearest))),
  });
