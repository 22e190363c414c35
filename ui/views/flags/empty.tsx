import { useState } from "preact/hooks";
import { go, link } from "../../app/location.ts";
import { info, projectKey } from "../../app/sim.ts";
import { Button, Code, Empty, Field } from "../../parts/basics.tsx";
import { TextInput } from "../../parts/text-input.tsx";
import { overrideSnippets, scenarioSnippet } from "./snippets.ts";

/** No flag is there: how to get one, for good or for now. */
export function NoFlags() {
  const [key, setKey] = useState("");
  const sim = info.value;
  const open = (event: Event) => {
    event.preventDefault();
    if (key.trim() !== "") go(link("flags", [key.trim()], { tab: "overrides" }));
  };
  return (
    <Empty title="No flags yet">
      <p>Write flags into the scenario file; the sim reads it again when it is saved.</p>
      <Code label="scenario.yaml" text={scenarioSnippet(projectKey.value, sim?.personal_api_key)} />
      <p>Or override one that does not exist. Clients get it with their next request.</p>
      <form class="flags-make" onSubmit={open}>
        <Field label="Key">
          <TextInput
            autocomplete="off"
            spellcheck={false}
            placeholder="new-checkout"
            value={key}
            onText={setKey}
          />
        </Field>
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
