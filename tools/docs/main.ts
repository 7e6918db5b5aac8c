/**
 * Writes `docs/reference/` from the tables that the program runs:
 * `deno task docs`. The benchmark writes its own page.
 *
 * @module
 */
import { markdownTable } from "../../resources/views/table.ts";
import { settingsTable } from "../../core/settings/settings.ts";
import { commandsPage } from "./commands_page.ts";
import { healthPage } from "./health_page.ts";
import { statesPage } from "./states_page.ts";

/** The pages of the folder, by name; each byte of them follows from the code. */
export const PAGES: Readonly<Record<string, () => string>> = {
  "commands.md": commandsPage,
  "health.md": healthPage,
  "settings.md": () =>
    [
      "# Settings",
      "",
      "Each is a variable; most are also a flag, which wins, and an option of " +
      "`startOnramp()`. Secrets have no flags, but for `--notify`: every " +
      "process of a machine can read a command line.",
      "",
      ...markdownTable(settingsTable()),
      "",
    ].join("\n"),
  "states.md": statesPage,
};

if (import.meta.main) {
  for (const [name, page] of Object.entries(PAGES)) {
    const path = new URL(`../../docs/reference/${name}`, import.meta.url);
    await Deno.writeTextFile(path, page());
  }
}
