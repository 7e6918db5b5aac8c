import assert from "node:assert/strict";
import { Command, Option } from "commander";
import { readConfig } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { type Setting, SETTINGS } from "../../core/settings/settings.ts";
import { moment, windowEnd } from "../../core/settings/values.ts";
import { everyCommand } from "../../tests/kit/commands.ts";
import { settingOption, settingOptions } from "./options.ts";

const parsed = (command: Command, ...args: readonly string[]) =>
  command.exitOverride().action(() => {}).parse(args, { from: "user" }).opts();

Deno.test("settingOption() reads what stands for no variable, and leaves the others to readConfig()", () => {
  const command = settingOptions(new Command(), "databaseUrl", "every", "rate");
  settingOptions(command, "backupTo", "port", "forwardTo", "allow");
  const flags = parsed(
    command,
    ...["--database-url", "file:a.db", "--every", "30m", "--backup-to", "b"],
    ...["--forward-to", "http://a.example", "--forward-to", "http://b.example"],
    ...["--allow", "10.0.0.1", "10.0.0.2"],
  );
  assert.deepEqual(flags, {
    databaseUrl: "file:a.db",
    every: 1_800_000,
    backupTo: "b",
    port: 8787,
    forwardTo: ["http://a.example", "http://b.example"],
    allow: ["10.0.0.1", "10.0.0.2"],
  });
  const { forwardTo } = readConfig(() => undefined, flags);
  assert.deepEqual(forwardTo.map(({ text }) => text), flags.forwardTo);
  assert.throws(() => parsed(command, "--rate", "0"), {
    name: "UsageError",
    message: /^Wrong --rate: /,
  });
});

Deno.test("settingOption() refuses a flag that counts only with another", () => {
  for (
    const [args, message] of [
      [["--keep", "3"], "Missing --backup-to: --keep counts only with it"],
      [
        ["--api-host", "::1"],
        "Missing --api-port: --api-host counts only with it",
      ],
    ] as const
  ) {
    const command = settingOptions(new Command(), "backupTo", "keep");
    settingOptions(command, "apiPort", "apiHost");
    assert.throws(() => parsed(command, ...args), {
      name: "UsageError",
      message,
    });
  }
  const alone = settingOption(new Command(), "consoleHost", {
    flag: "--host <host>",
  });
  assert.deepEqual(parsed(alone, "--host", "::1"), { host: "::1" });
});

Deno.test("SETTINGS names each flag as the parser does, and has none for a secret that does not warn of it", () => {
  const rows: [string, Setting][] = Object.entries(SETTINGS);
  for (const [name, { flag, isSecret, more = "" }] of rows) {
    if (flag === undefined) continue;
    assert.equal(new Option(flag).attributeName(), name);
    assert.ok(!isSecret || /can read a command line/.test(more), name);
  }
});

Deno.test("buildProgram() has no command that describes the flag of a setting in its own way", () => {
  const program = everyCommand();
  const all = (command: Command): readonly Command[] => [
    command,
    ...command.commands.flatMap((one) => all(one as Command)),
  ];
  const rows = Object.values<Setting>(SETTINGS).filter(({ variable }) =>
    variable
  );
  let seen = 0;
  for (const { options } of all(program)) {
    for (const { long, description } of options) {
      const row = rows.find(({ flag }) => flag?.split(" ")[0] === long);
      if (row === undefined) continue;
      // The receiver of `listen` is another than that of `serve`.
      if (description.startsWith("your receiver")) continue;
      seen++;
      assert.ok(
        description.startsWith(row.means.replaceAll("`", "")),
        description,
      );
    }
  }
  assert.ok(seen > 50);
});

Deno.test("moment() reads a day as its first moment and a time as itself", () => {
  const read = (text: string) => moment("--from", text);
  assert.equal(read("2026-11-20"), "2026-11-20T00:00:00.000Z");
  assert.equal(read("2026-11-20T14:30:00+02:00"), "2026-11-20T12:30:00.000Z");
});

Deno.test("windowEnd() takes all of a day in", () => {
  const read = (text: string) => windowEnd("--to", text);
  assert.equal(read("2026-11-30"), "2026-12-01T00:00:00.000Z");
  assert.equal(read("2026-11-30T12:00:00Z"), "2026-11-30T12:00:00.000Z");
});

Deno.test("moment() refuses a time without a zone and a day that does not exist", () => {
  for (
    const wrong of [
      "2026-11-20T14:30:00",
      "2026-02-30",
      "2026-02-30T10:00:00Z",
      "2026-13-01",
      "yesterday",
      "",
    ]
  ) {
    assert.throws(() => moment("--from", wrong), UsageError, wrong);
  }
});
