import { numberText } from "../../parts/text.ts";

interface Count {
  readonly label: string;
  readonly value: number;
  readonly tone?: "good" | "odd" | "bad" | undefined;
  readonly href?: string | undefined;
}

/** Numbers that one sees at a glance; those that are not 0 have their tone. */
export function Numbers({ counts }: { counts: readonly Count[] }) {
  return (
    <dl class="tapes-numbers">
      {counts.map(({ label, value, tone, href }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={value > 0 && tone !== undefined ? `tapes-${tone}` : ""}>
            {href !== undefined && value > 0 ? <a href={href}>{numberText(value)}</a> : numberText(value)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
