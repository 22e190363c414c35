import { useState } from "preact/hooks";
import { go, link } from "../../app/location.ts";
import { info, projectKey } from "../../app/sim.ts";
import { Button, Code, Empty } from "../../parts/basics.tsx";
import { TextField } from "../../parts/fields.tsx";
import { flagScenario, overrideSnippets } from "./snippets.ts";

/** Empty state: how to create a flag. */
export function NoFlags() {
  const [key, setKey] = useState("");
  const sim = info.value;
  const open = (event: Event) => {
    event.preventDefault();
    if (key.trim() !== "") go(link("flags", [key.trim()], { tab: "overrides" }));
  };
  return (
    <Empty title="No flags yet">
      <p>Write flags into the scenario file; the sim reloads it when it is saved.</p>
      <Code label="scenario.yaml" text={flagScenario(projectKey.value, sim?.personal_api_key)} />
      <p>Or override one that does not exist. Clients get it with their next request.</p>
      <form class="row row-end" onSubmit={open}>
        <TextField
          label="Key"
          autocomplete="off"
          spellcheck={false}
          placeholder="new-checkout"
          value={key}
          onText={setKey}
        />
        <Button type="submit" kind="main">
          Override it
        </Button>
      </form>
      {overrideSnippets(sim?.url).map(({ label, text }) => (
        <Code key={label} label={label} text={text} />
      ))}
    </Empty>
  );
}
