import { counted } from "../kernel/counted.ts";
import type { Comparison, DifferenceGroup, RouteTally } from "../tape/differences/group.ts";
import { type Severity, severities } from "../tape/differences/types.ts";
import { skipReasons } from "../tape/differences/verify.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

/** Nobody reads more; `--json` has all. */
const mostLines = 200;

const labels: Readonly<Record<Severity, { text: string; paint(style: Style): (text: string) => string }>> = {
  break: { text: "break   ", paint: (style) => style.bad },
  additive: { text: "additive", paint: (style) => style.bold },
  value: { text: "value   ", paint: (style) => style.dim },
};

/** How many differences there are of each severity. */
const severityCounts = (groups: readonly DifferenceGroup[]): Record<Severity, number> => ({
  break: countOf(groups, "break"),
  additive: countOf(groups, "additive"),
  value: countOf(groups, "value"),
});

const countOf = (groups: readonly DifferenceGroup[], severity: Severity): number =>
  groups.filter((it) => it.severity === severity).length;

/** What the two answers of a comparison are called. */
export type Sides = readonly [recorded: string, other: string];

/** `body.requestId: the key is missing (recorded string, here nothing)`, safe on a terminal. */
export const differenceText = (
  { path, detail, recorded, own }: DifferenceGroup,
  [first, second]: Sides,
): string => `${clean(path, 120)}: ${detail} (${first} ${clean(recorded, 80)}, ${second} ${clean(own, 80)})`;

function groupLine(group: DifferenceGroup, sides: Sides, style: Style): string {
  const { text, paint } = labels[group.severity];
  const times = `${group.count}×`.padStart(6);
  return `  ${paint(style)(text)}${times}  ${differenceText(group, sides)}  ${style.dim(`#${group.first}`)}`;
}

interface Routes {
  readonly groups: readonly DifferenceGroup[];
  readonly routes: readonly RouteTally[];
}

/** Routes with the gravest differences first; each route's differences below it. */
function routeLines({ groups, routes }: Routes, sides: Sides, style: Style) {
  const order = [...new Set(groups.map(({ route }) => route))];
  return order.flatMap((route) => {
    const compared = routes.find((it) => it.route === route)?.compared ?? 0;
    const title = `${style.bold(clean(route, 120))} (${counted(compared, "answer")})`;
    return [title, ...groups.filter((it) => it.route === route).map((it) => groupLine(it, sides, style))];
  });
}

/** `2 breaks, 1 additive, 3 values`. */
export function countsText(groups: readonly DifferenceGroup[]): string {
  const counts = severityCounts(groups);
  const words = severities
    .filter((it) => counts[it] > 0)
    .map((it) => (it === "additive" ? `${counts[it]} additive` : counted(counts[it], it)));
  return words.join(", ") || "no differences";
}

function skippedLines({ skipped }: Comparison): string[] {
  const rows = Object.entries(skipReasons).flatMap(([reason, text]) => {
    const count = skipped[reason as keyof typeof skipReasons] ?? 0;
    return count > 0 ? [`${count} ${text}`] : [];
  });
  return rows.length > 0 ? [`not compared: ${rows.join("; ")}`] : [];
}

export interface LinesRequest {
  /** What was compared. */
  readonly name: string;
  /** With what. */
  readonly with: string;
  readonly sides: Sides;
  /** Lines before the summary. */
  readonly notes?: readonly string[];
}

/** The report for people: one line for each kind of difference of a route, and a summary. */
export function verifyLines(result: Comparison, request: LinesRequest, style: Style): string[] {
  const lines = routeLines(result, request.sides, style);
  const left = lines.length - mostLines;
  return [
    ...lines.slice(0, mostLines),
    ...(left > 0 ? [`… ${left} more lines; --json tells all`] : []),
    ...(result.left > 0 ? [`… and ${counted(result.left, "difference")} of too many kinds`] : []),
    ...skippedLines(result),
    ...(request.notes ?? []),
    `${clean(request.name)}: ${result.compared} of ${counted(result.exchanges, "exchange")} compared with ${clean(request.with)}: ${countsText(result.groups)}`,
  ];
}
