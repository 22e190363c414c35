import { counted, times } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Style } from "../../kernel/command/style.ts";
import type { CheckFinding, CheckReport } from "./shapes.ts";

const evidenceLine = ({ text, url, request, event }: CheckFinding["evidence"][number]): string => {
  const places = [
    url === undefined ? "" : clean(url, 200),
    request === undefined ? "" : `request ${request}`,
    event === undefined ? "" : `event ${event}`,
  ].filter(Boolean);
  const [first = "", ...more] = text.split("\n").map((it) => `        ${clean(it, 300)}`);
  return [`${first}${places.length === 0 ? "" : ` (${places.join(", ")})`}`, ...more].join("\n");
};

function findingLines(finding: CheckFinding, style: Style): string[] {
  const { severity, code, sentence, fix, count, evidence } = finding;
  const marks = { error: style.bad, warning: style.bold, info: style.dim };
  const more = count - evidence.length;
  return [
    `${marks[severity](severity.padEnd(7))} ${code}${times(count)}: ${clean(sentence)}`,
    ...evidence.map(evidenceLine),
    ...(more > 0 ? [`        … and ${more} more`] : []),
    `        → ${clean(fix)}`,
  ];
}

/** `3 pages, 9 events of posthog-js 1.449.2`. */
function seenText({ pages, sdks, counts }: CheckReport): string {
  const senders = sdks.map(({ name, version }) => clean(version === null ? name : `${name} ${version}`, 80));
  return `${counted(pages.length, "page")}, ${counted(counts.events, "event")}${senders.length === 0 ? "" : ` of ${senders.join(", ")}`}`;
}

const countsText = ({ counts: { errors, warnings } }: CheckReport): string =>
  errors + warnings === 0
    ? "no mistakes found"
    : [errors > 0 ? counted(errors, "error") : "", warnings > 0 ? counted(warnings, "warning") : ""]
        .filter(Boolean)
        .join(", ");

export function checkLines(report: CheckReport, style: Style): string[] {
  const { findings, checked, unchecked, verdict } = report;
  const mark = verdict === "passed" ? style.good("passed") : style.bad("failed");
  return [
    ...findings.flatMap((it) => findingLines(it, style)),
    ...(findings.length > 0 ? [""] : []),
    `checked: ${checked.map(({ area, result }) => (result === "ok" ? area : `${area} (${result})`)).join(", ")}`,
    ...unchecked.flatMap(({ area, reason, how }) => [
      `not checked: ${area}: ${clean(reason, 300)}`,
      `        → ${clean(how)}`,
    ]),
    `${mark}: ${countsText(report)} (${seenText(report)})`,
  ];
}
