import { type FieldFacts, filterFields } from "../../../src/filter/fields.ts";
import type { FilterKind } from "../../../src/filter/types.ts";
import { Dialog } from "../dialog.tsx";

interface FilterHelpProps {
  kind: FilterKind;
  onClose(): void;
  /** Adds an example to the filter. */
  onExample(text: string): void;
}

/** How the pieces of a filter go together. */
const grammar: readonly (readonly [written: string, means: string])[] = [
  ["a b", "both"],
  ["a OR b", "one of them; ( ) hold together"],
  ["-a", "not this"],
  ["field:x,y", "x or y; * stands for anything"],
  ["field~x", "holds x"],
  ["field:>3", "more than 3; also >= < <="],
  ['word, "two words"', "anywhere in it"],
];

const otherNames = ({ aliases }: FieldFacts): string =>
  aliases.length === 0 ? "" : ` (also ${aliases.join(", ")})`;

/** What a filter can say. The terminal (`--filter`) and HTTP (`?filter=`) say it the same way. */
export function FilterHelp({ kind, onClose, onExample }: FilterHelpProps) {
  return (
    <Dialog title="What a filter can say" onClose={onClose}>
      <table class="table filter-help-grammar">
        <tbody>
          {grammar.map(([written, means]) => (
            <tr key={written}>
              <th scope="row">
                <code>{written}</code>
              </th>
              <td>{means}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <table class="table filter-help">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">What it is</th>
            <th scope="col">Try it</th>
          </tr>
        </thead>
        <tbody>
          {filterFields[kind].map((field) => (
            <tr key={field.name}>
              <th scope="row">
                <code>{field.name}</code>
              </th>
              <td>{field.note + otherNames(field)}</td>
              <td>
                <button
                  type="button"
                  class="button button-quiet"
                  onClick={() => {
                    onExample(field.example);
                    onClose();
                  }}
                >
                  <code>{field.example}</code>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">
        The terminal and HTTP say it the same way: <code>phx-sim events tail --filter</code>,{" "}
        <code>?filter=</code>.
      </p>
    </Dialog>
  );
}
