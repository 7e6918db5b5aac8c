import assert from "node:assert/strict";
import {
  adviceTable,
  attentionTable,
  outcomesTable,
  reconcileTable,
  releaseTable,
} from "../../resources/views/machine/outcome_tables.ts";
import { pairsTable } from "../../resources/views/asset_view.ts";
import {
  alarmsTable,
  conditionsTable,
} from "../../resources/health/condition_tables.ts";
import { markdownTable, type WordTable } from "../../resources/views/table.ts";
import { RECONCILE_SEVERITY } from "../../sync/testing/mod.ts";
import { OUTCOME_WORDS } from "../../resources/wording/outcome.ts";
import { BY_HAND } from "../../resources/wording/release.ts";
import { settingsTable } from "../../core/settings/settings.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url);

/**
 * Tables that documents print, by the name in their marks; null for one that
 * stays as it is.
 */
const TABLES: Readonly<Record<string, () => WordTable | null>> = {
  outcomes: outcomesTable,
  advice: adviceTable,
  attention: attentionTable,
  reconcile: () => reconcileTable(RECONCILE_SEVERITY),
  release: releaseTable,
  conditions: conditionsTable,
  alarms: alarmsTable,
  settings: settingsTable,
  pairs: () => pairsTable("production"),
};

/** The tables of each document. */
const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  "COMMANDS.md": ["attention", "outcomes", "release"],
  "FORWARDING.md": ["alarms", "release"],
  "SETTINGS.md": ["settings"],
  "RUNBOOK.md": ["advice", "conditions", "reconcile"],
  "WITNESS.md": ["pairs"],
};

const PRINTED = /<!-- printed: (\w+) -->\n\n([^]*?)\n\n<!-- end -->/g;

for (const [name, tables] of Object.entries(DOCUMENTS)) {
  Deno.test(`${name} has the tables that are printed from what they show`, async () => {
    const file = new URL(name, root);
    const text = await Deno.readTextFile(file);
    const found = [...text.matchAll(PRINTED)].map(([, table = ""]) => table);
    assert.deepEqual(found.toSorted(), tables);
    const printed = text.replaceAll(PRINTED, (old, table: string) => {
      const words = TABLES[table]?.() ?? null;
      if (words === null) return old;
      const lines = markdownTable(words);
      return `<!-- printed: ${table} -->\n\n${
        lines.join("\n")
      }\n\n<!-- end -->`;
    });
    if (Deno.env.get("RAMPKIT_WRITE_TABLES") === "1") {
      await Deno.writeTextFile(file, printed);
    } else {
      assert.equal(
        text,
        printed,
        "run: RAMPKIT_WRITE_TABLES=1 deno task test tests/house/printed_tables_test.ts",
      );
    }
  });
}

Deno.test("no sentence of a row of the tables stands twice in the sources", async () => {
  const sentences = new Set(
    [...Object.values(OUTCOME_WORDS), ...Object.values(BY_HAND)]
      .flatMap(({ next, customer }) => [next, customer])
      .filter((sentence) => sentence.length > 30),
  );
  assert.ok(sentences.size > 40);
  const places = new Map<string, string[]>();
  for await (const { path, text } of sources()) {
    const joined = text.replaceAll(/["`]\s*\+\s*["`]/g, "");
    for (const sentence of sentences) {
      const times = joined.split(sentence).length - 1;
      for (let n = 0; n < times; n++) {
        places.set(sentence, [...places.get(sentence) ?? [], path]);
      }
    }
  }
  const repeated = [...places].filter(([, paths]) => paths.length > 1);
  assert.deepEqual(repeated, []);
});

/** Every source that is no test, with its text. */
async function* sources() {
  const folder = root.pathname.replace(/\/$/, "");
  for (const path of await sourceFiles(folder)) {
    if (isTestFile(path)) continue;
    yield { path, text: await Deno.readTextFile(`${folder}/${path}`) };
  }
}
