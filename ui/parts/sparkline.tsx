interface SparklineProps {
  /** One bar each, newest at the right. */
  values: readonly number[];
  /** Bars below the line: filled, then hollow. */
  under?: readonly number[];
  hollow?: readonly number[];
  label: string;
  /** The value of full height. */
  most?: number;
}

const height = 20;
/** Minimum height of a bar. */
const least = 1.5;

const size = (value: number, most: number, room: number): number =>
  value === 0 ? 0 : Math.min(room, Math.max(least, (value / most) * room));

/** All bars as one path; `place` returns top and height of bar i. */
const bars = (values: readonly number[], place: (value: number, i: number) => readonly [number, number]) =>
  values
    .map((value, i) => {
      const [y, tall] = place(value, i);
      return tall === 0 ? "" : `M${i + 0.1} ${y.toFixed(2)}h0.8v${tall.toFixed(2)}h-0.8z`;
    })
    .join("");

/** A bar chart; losses are below the line, so that it is readable without colours. */
export function Sparkline({ values, under, hollow = [], label, most: given }: SparklineProps) {
  const below = (i: number) => (under?.[i] ?? 0) + (hollow[i] ?? 0);
  const most = given ?? Math.max(1, ...values, ...values.map((_, i) => below(i)));
  const line = under === undefined ? height : height * 0.6;
  const room = height - line;
  const shareOf = (value: number, i: number) =>
    below(i) === 0 ? 0 : (value / below(i)) * size(below(i), most, room);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${values.length} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path d={bars(values, (it) => [line - size(it, most, line), size(it, most, line)])} />
      {under !== undefined && (
        <>
          <path class="sparkline-under" d={bars(under, (it, i) => [line, shareOf(it, i)])} />
          <path
            class="sparkline-hollow"
            d={bars(hollow, (it, i) => [line + shareOf(under[i] ?? 0, i), shareOf(it, i)])}
          />
          <path class="sparkline-line" d={`M0 ${line}h${values.length}`} />
        </>
      )}
    </svg>
  );
}
