/** One bar for each number, the newest at the right. */
export function Sparkline({ values, label, most = Math.max(1, ...values) }: SparklineProps) {
  const height = 20;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${values.length} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {values.map((value, i) => {
        const size = value === 0 ? 0 : Math.max(1.5, (value / most) * height);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
          <rect key={i} x={i + 0.1} y={height - size} width={0.8} height={size} />
        );
      })}
    </svg>
  );
}

interface SparklineProps {
  values: readonly number[];
  /** Says in words what is drawn. */
  label: string;
  most?: number;
}
