import { useState } from "preact/hooks";
import { columnLimits } from "../../../src/state/journal/feed/column-limits.ts";
import { Button } from "../../parts/basics.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { CheckField, TextField } from "../../parts/fields.tsx";
import { plain } from "../../parts/text.ts";
import { addProperty, choice, isProperty, optional, propertyOf, resetColumns, toggleColumn } from "./columns.ts";

interface DialogProps {
  /** Names of properties that were seen. */
  properties: readonly string[];
  onClose(): void;
}

const mostOffered = 100;

/** Selects the columns of the list. */
export function ColumnsDialog({ properties, onClose }: DialogProps) {
  const { shown } = choice.value;
  const [name, setName] = useState("");
  const add = (event: Event) => {
    event.preventDefault();
    if (name.trim() === "") return;
    addProperty(name);
    setName("");
  };
  const isFull = shown.length >= columnLimits.columns;
  return (
    <Dialog
      title="Columns"
      onClose={onClose}
      actions={
        <>
          <Button onClick={resetColumns}>Usual columns</Button>
          <Button kind="main" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <form class="stack events-columns" onSubmit={add}>
        {optional.toReversed().map(({ id, title }) => (
          <CheckField key={id} label={title} isChecked={shown.includes(id)} onChange={() => toggleColumn(id)} />
        ))}
        {shown.filter(isProperty).map((id) => (
          <CheckField key={id} label={plain(propertyOf(id), 60)} isChecked onChange={() => toggleColumn(id)} />
        ))}
        <div class="row">
          <TextField
            label="A property"
            placeholder="amount"
            value={name}
            onText={setName}
            list="event-properties"
            autocomplete="off"
            maxLength={columnLimits.name}
            hint={isFull ? `At most ${columnLimits.columns} columns.` : "Dots go into it."}
          />
          <Button type="submit" disabled={isFull}>
            Add
          </Button>
        </div>
        <datalist id="event-properties">
          {properties.slice(0, mostOffered).map((it) => (
            <option key={it} value={plain(it, 200)} />
          ))}
        </datalist>
        <p class="muted small">
          Drag the right edge of a column's title to change its width, or use the arrow keys on it. A narrow list leaves
          out the SDK first, then the URL.
        </p>
      </form>
    </Dialog>
  );
}
