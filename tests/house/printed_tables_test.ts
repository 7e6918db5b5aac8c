import assert from "node:assert/strict";
import {
  adviceTable,
  attentionTable,
  outcomesTable,
  reconcileTable,
  releaseTable,
} from "../../resources/views/machine/outcome_tables.ts";
import {
  alarmsTable,
  conditionsTable,
} from "../../resources/health/condition_tables.ts";
import {
  markdownTable,
  type WordTable,
} from "../../resources/views/markdown_table.ts";
import { RECONCILE_SEVERITY } from "../../sync/testing/mod.ts";

const root = new URL("../..", import.meta.url);

/** Tables that documents print, by the name in their marks. */
const TABLES: Readonly<Record<string, () => WordTable>> = {
  outcomes: outcomesTable,
  advice: adviceTable,
  attention: attentionTable,
  reconcile: () => reconcileTable(RECONCILE_SEVERITY),
  release: releaseTable,
  conditions: conditionsTable,
  alarms: alarmsTable,
};

/** The tables of each document. */
const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  "COMMANDS.md": ["attention", "outcomes", "release"],
  "FORWARDING.md": ["alarms", "release"],
  "RUNBOOK.md": ["advice", "conditions", "reconcile"],
};

const PRINTED = /<!-- printed: (\w+) -->\n\n([^]*?)\n\n<!-- end -->/g;

for (const [name, tables] of Object.entries(DOCUMENTS)) {
  Deno.test(`${name} has the tables that are printed from the tables of outcomes and conditions`, async () => {
    const file = new URL(name, root);
    const text = await Deno.readTextFile(file);
    const found = [...text.matchAll(PRINTED)].map(([, table = ""]) => table);
    assert.deepEqual(found.toSorted(), tables);
    const printed = text.replaceAll(PRINTED, (_, table: string) => {
      const lines = markdownTable(TABLES[table]?.() ?? { head: [], rows: [] });
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
