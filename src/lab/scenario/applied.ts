import { createHash } from "node:crypto";
import { closeSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { openDraft } from "../../kernel/base/draft.ts";
import { isObject, type JsonObject, parsedJson } from "../../kernel/base/json.ts";
import { writeAll } from "../../kernel/store/bytes.ts";
import { type SwitchPart, writeSynced } from "../../kernel/store/switch.ts";
import { migrate, UnknownVersionError } from "../../state/documents/store/migrations.ts";
import type { World } from "../../state/documents/world.ts";
import type { ScenarioProblem } from "./problems.ts";
import type { Scenario } from "./schema.ts";
import type { ScenarioSource } from "./source.ts";
import type { ScenarioEdit } from "./state/info-shapes.ts";

interface LastApplied {
  readonly scenario: Scenario;
  /** Its world with the ids that its documents have; null: those that it is built with. */
  readonly world: World | null;
}

const fileName = "scenario.json";

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

function textOf(value: LastApplied): Buffer {
  const content = JSON.stringify(value);
  const digests = { scenario: digestOf(JSON.stringify(value.scenario)), content: digestOf(content) };
  return Buffer.from(`${JSON.stringify({ version: 1, ...digests })}\n${content}\n`);
}

/**
 * Keeps the scenario that was last applied, so that the next start can apply what changed since. A data folder has it
 * in scenario.json: a line with digests, and a line with the content, which a start without a change does not parse.
 */
export class AppliedScenario {
  readonly #file: string | null;
  #last: LastApplied | undefined;

  constructor(folder: string | null) {
    this.#file = folder === null ? null : join(folder, fileName);
  }

  /** True for the scenario that was last applied. */
  is(scenario: Scenario): boolean {
    const text = JSON.stringify(scenario);
    if (this.#last) return JSON.stringify(this.#last.scenario) === text;
    return this.#lines()[0]?.scenario === digestOf(text);
  }

  /** What was last applied; undefined where it is not known: an older version's folder, a damaged file. */
  read(): LastApplied | undefined {
    this.#last ??= this.#parsed();
    return this.#last;
  }

  /** Keeps what was applied. @throws the system's error */
  keep(scenario: Scenario, world: World | null): void {
    const value: LastApplied = { scenario, world };
    this.#last = value;
    if (this.#file === null) return;
    const draft = `${this.#file}.tmp`;
    const fd = openDraft(draft);
    try {
      writeAll(fd, textOf(value));
    } finally {
      closeSync(fd);
    }
    renameSync(draft, this.#file);
  }

  replacing(scenario: Scenario, world: World | null): SwitchPart {
    const value: LastApplied = { scenario, world };
    return {
      write: (folder) => writeSynced(join(folder, fileName), textOf(value)),
      take: () => {
        this.#last = value;
      },
    };
  }

  #parsed(): LastApplied | undefined {
    const [header, content = ""] = this.#lines();
    if (header?.content !== digestOf(content)) return undefined;
    // written by `textOf`, maybe of an older version
    const last = parsedJson(content) as unknown as { scenario: Scenario; world: JsonObject | null } | undefined;
    if (!last) return undefined;
    try {
      return { scenario: last.scenario, world: last.world && (migrate(last.world) as unknown as World) };
    } catch (error) {
      if (error instanceof UnknownVersionError) return undefined;
      throw error;
    }
  }

  #lines(): [header?: { scenario?: unknown; content?: unknown }, content?: string] {
    if (this.#file === null) return [];
    let text: string;
    try {
      text = readFileSync(this.#file, "utf8");
    } catch {
      return [];
    }
    const [header = "", content = ""] = text.split("\n", 2);
    const value = parsedJson(header);
    return isObject(value) && value.version === 1 ? [value, content] : [];
  }
}

export interface ScenarioState {
  current: Scenario;
  /** Where it is read from; edits of its files are followed. */
  readonly source: ScenarioSource;
  readonly name: string;
  readonly applied: AppliedScenario;
  /** Mistakes in the files now; the last valid scenario stays. */
  problems: readonly ScenarioProblem[];
  /** Parts of the current scenario that cannot work. */
  warnings: readonly ScenarioProblem[];
  edit: ScenarioEdit | null;
}
