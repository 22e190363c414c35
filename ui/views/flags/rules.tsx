import { Section } from "../../parts/basics.tsx";
import { plain } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import type { FlagInFull } from "./answers.ts";
import { usesHref } from "./place.ts";
import { Shares } from "./shares.tsx";

const longest = 2_000;

function Sentences({ lines }: { lines: readonly string[] }) {
  return lines.map((it, i) => <p key={i}>{plain(it, longest)}</p>);
}

/** What decides, in words and as it is written. */
export function RulesTab({ flag }: { flag: FlagInFull }) {
  const { words, filters } = flag;
  if (!words) {
    return (
      <Section title="No such flag">
        <p class="muted">
          The project has no flag with this key. Clients get it because it is overridden; there are no rules.
        </p>
      </Section>
    );
  }
  return (
    <>
      <Section title="Rules" actions={<a href={usesHref(flag.key)}>Events of its uses</a>}>
        <div class="flags-words">
          <Sentences lines={words.before} />
          {words.sets.length > 0 && (
            <ol>
              {words.sets.map((it, i) => (
                <li key={i}>{plain(it, longest)}</li>
              ))}
            </ol>
          )}
          <Sentences lines={words.after} />
          {flag.shares.length > 0 && <Shares shares={flag.shares} hasLegend />}
          {words.cohorts.length > 0 && (
            <div class="muted">
              <Sentences lines={words.cohorts} />
            </div>
          )}
        </div>
      </Section>
      {filters && (
        <Section title="As they are written">
          <PayloadTree value={filters} label="Filters" open={6} />
        </Section>
      )}
    </>
  );
}
