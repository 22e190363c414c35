import { type FieldFacts, filterFields } from "../../../src/state/journal/filter/fields.ts";
import type { FilterKind } from "../../../src/state/journal/filter/types.ts";
import { Dialog } from "../dialog.tsx";
import { Table } from "../layout.tsx";

interface FilterHelpProps {
  kind: FilterKind;
  onClose(): void;
  onExample(text: string): void;
}

const grammar: readonly (readonly [written: string, means: string])[] = [
  ["a b", "both"],
  ["a OR b", "one of them; ( ) group"],
  ["-a", "not this"],
  ["field:x,y", "x or y; * matches anything"],
  ["field~x", "contains x"],
  ["field:>3", "more than 3; also >= < <="],
  ['word, "two words"', "anywhere"],
];

const otherNames = ({ aliases = [] }: FieldFacts): string =>
  aliases.length === 0 ? "" : ` (also ${aliases.join(", ")})`;

/** Help on the filter syntax, which is the same in the terminal (`--filter`) and in HTTP (`?filter=`). */
export function FilterHelp({ kind, onClose, onExample }: FilterHelpProps) {
  return (
    <Dialog title="Filter syntax" onClose={onClose}>
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
      <Table class="filter-help" columns={["Field", "Meaning", "Example"]}>
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
      </Table>
      <p class="muted">
        The terminal and HTTP use the same syntax: <code>phx-sim events tail --filter</code>, <code>?filter=</code>.
      </p>
    </Dialog>
  );
}
