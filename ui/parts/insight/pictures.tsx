import { Scrolled } from "../basics.tsx";
import { numberText, plain } from "../text.ts";
import { percentText } from "./periods.ts";
import {
  changeText,
  type DataTable,
  type Figure,
  type Funnel,
  type Picture,
  type Ranking,
  type Retention,
  secondsText,
  shareText,
  tableOf,
} from "./picture.ts";
import { PlotPicture } from "./plot.tsx";

function FigurePicture({ picture: { value, before, format } }: { picture: Figure }) {
  const change = changeText(value, before);
  return (
    <p class="insight-figure">
      <strong>{value === null ? "–" : format(value)}</strong>
      {before !== undefined && (
        <span class="muted small">
          {change === undefined
            ? `the period before: ${before === null ? "–" : format(before)}`
            : `${change} on the period before`}
        </span>
      )}
    </p>
  );
}

/** Rows of a ranking or a table that are drawn; the rest is counted. */
const mostRows = 200;
const mostBars = 12;

function RankingPicture({ picture: { rows, format } }: { picture: Ranking }) {
  const most = Math.max(...rows.map((it) => Math.abs(it.value ?? 0)), Number.MIN_VALUE);
  const left = rows.length - mostBars;
  return (
    <>
      <ul class="insight-ranking">
        {rows.slice(0, mostBars).map(({ name, value, isBefore }, i) => (
          <li key={i}>
            <span class="cut" title={plain(name)}>
              {plain(name, 120)}
            </span>
            <span class="insight-track">
              <i
                class={isBefore ? "insight-before" : undefined}
                style={{ inlineSize: `${(Math.abs(value ?? 0) / most) * 100}%` }}
              />
            </span>
            <b class="insight-number">{value === null ? "–" : format(value)}</b>
          </li>
        ))}
      </ul>
      {left > 0 && <p class="muted small">{`${numberText(left)} more in the table`}</p>}
    </>
  );
}

/** Groups of a funnel that are drawn beside each other. */
const mostGroups = 4;

function FunnelPicture({ picture: { groups }, title }: { picture: Funnel; title: string }) {
  const shown = groups.slice(0, mostGroups);
  const first = Math.max(...shown.map((it) => it.steps[0]?.count ?? 0), 1);
  const steps = shown[0]?.steps ?? [];
  const isOne = shown.length === 1;
  return (
    <>
      <Scrolled label={`${title}, steps`}>
        <ol class="insight-funnel">
          {steps.map(({ name }, i) => (
            <li key={i}>
              <span class="insight-columns" aria-hidden="true">
                {shown.map(({ steps: of }, at) => (
                  <i
                    key={at}
                    class={`insight-s${at + 1}`}
                    style={{ blockSize: `${((of[i]?.count ?? 0) / first) * 100}%` }}
                  />
                ))}
              </span>
              <b class="cut" title={plain(name)}>
                {i + 1}. {plain(name, 80)}
              </b>
              {shown.map(({ name: group, steps: of }, at) => {
                const [count, before] = [of[i]?.count ?? 0, of[i - 1]?.count ?? 0];
                return (
                  <span key={at} class="stack stack-tight">
                    <span>
                      {!isOne && <span class={`insight-key insight-s${at + 1}`}>{plain(group, 40)} </span>}
                      <strong>{numberText(count)}</strong>
                    </span>
                    <span class="muted">
                      {i === 0 ? "start" : shareText(count, before)}
                      {i > 0 && isOne && (
                        <>
                          <br />
                          {`${numberText(before - count)} left`}
                        </>
                      )}
                    </span>
                  </span>
                );
              })}
            </li>
          ))}
        </ol>
      </Scrolled>
      {groups.length > mostGroups && (
        <p class="muted small">{`${numberText(groups.length - mostGroups)} more in the table`}</p>
      )}
    </>
  );
}

/** Colour of a full cell, in percent: its text keeps its contrast. */
const strongest = 42;

function RetentionPicture({ picture: { columns, rows }, title }: { picture: Retention; title: string }) {
  return (
    <Scrolled label={`${title}, retention`}>
      <table class="insight-retention">
        <thead>
          <tr>
            <th scope="col">Start</th>
            <th scope="col">Persons</th>
            {columns.map((it) => (
              <th key={it} scope="col">
                {it}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, size, cells }, i) => (
            <tr key={i}>
              <th scope="row">{plain(name, 80)}</th>
              <td class="insight-size">{numberText(size)}</td>
              {columns.map((column, at) => {
                const cell = cells[at];
                if (!cell) return <td key={column} />;
                const heat = { "--heat": `${cell.share * strongest}%` };
                return (
                  <td
                    key={column}
                    class={`insight-heat${cell.isUnfinished ? " insight-open" : ""}`}
                    style={heat}
                    title={`${numberText(cell.count)} of ${numberText(size)}${cell.isUnfinished ? ", not over" : ""}`}
                  >
                    {size === 0 ? "–" : percentText(Math.round(cell.share * 100))}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}

const numberShape = /^[+−-]?[\d,]+(?:\.\d+)?(?: %)?$|^–$|^$/;

/** The numbers of a picture. */
export function DataRows({ table: { columns, rows }, title }: { table: DataTable; title: string }) {
  const isNumber = columns.map((_, at) => at > 0 && rows.every((row) => numberShape.test(row[at] ?? "")));
  const cell = (at: number) => (isNumber[at] ? "number" : undefined);
  return (
    <Scrolled label={`${title}, table`} class="scrolled insight-table">
      <table class="table">
        <thead>
          <tr>
            {columns.map((it, at) => (
              <th key={at} scope="col" class={cell(at)}>
                {plain(it, 120) || <span class="unseen">Row</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostRows).map((row, i) => (
            <tr key={i}>
              {row.map((value, at) =>
                at === 0 ? (
                  <th key={at} scope="row">
                    {plain(value, 300)}
                  </th>
                ) : (
                  <td key={at} class={cell(at)}>
                    {plain(value, 300)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > mostRows && <p class="muted small">{`${numberText(rows.length - mostRows)} more rows`}</p>}
    </Scrolled>
  );
}

/** The drawing of a result. */
export function Drawn({ picture, title }: { picture: Picture; title: string }) {
  switch (picture.kind) {
    case "plot":
      return <PlotPicture plot={picture} title={title} />;
    case "figure":
      return <FigurePicture picture={picture} />;
    case "ranking":
      return <RankingPicture picture={picture} />;
    case "funnel":
      return <FunnelPicture picture={picture} title={title} />;
    case "retention":
      return <RetentionPicture picture={picture} title={title} />;
    case "rows":
      return <DataRows table={tableOf(picture)} title={title} />;
  }
}

/** What a picture says in few words, below it. */
export function captionOf(picture: Picture): string {
  if (picture.kind === "retention") {
    return picture.rows.some((row) => row.cells.some((it) => it.isUnfinished)) ? "dashed: not over yet" : "";
  }
  if (picture.kind !== "funnel" || picture.groups.length !== 1) return "";
  const steps = picture.groups[0]?.steps ?? [];
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last || steps.length < 2) return "";
  const times = steps.slice(1).map((it) => it.median);
  const median = steps.length === 2 && times[0] != null ? ` · median ${secondsText(times[0])}` : "";
  return `${shareText(last.count, first.count)} of ${numberText(first.count)}${median}`;
}
