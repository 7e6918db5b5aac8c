import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { messageOf } from "../../core/guards.ts";
import { type Cli, type Io, jsonLine, line, lines } from "../program/io.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import { jsonOption } from "../program/options.ts";
import { openOutput } from "../program/output.ts";
import { counted, drawTable } from "../../resources/views/text.ts";

interface SchemaFlags {
  readonly output?: string;
  readonly json?: boolean;
}

/** `schema`: what `--json` prints, as JSON Schema. */
export function addSchema(program: Command, cli: Cli): void {
  const command = program.command("schema").argument(
    "[name]",
    "name of a schema; without it, all are listed",
  ).summary("JSON Schema of what --json prints")
    .description(
      "print the JSON Schema (2020-12) of what --json prints, of errors under " +
        "it and of every webhook; without a name, list all schemas",
    );
  jsonOption(command, "one object a line")
    .option(
      "--output <folder>",
      "write each schema, or the one that is named, to NAME.schema.json there",
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit schema order\n  rampkit schema --output schemas",
    )
    .action(
      cli.run((name: string | undefined, flags: SchemaFlags) =>
        schema(cli.io, name, flags)
      ),
    );
}

async function schema(
  io: Io,
  name: string | undefined,
  { output, json }: SchemaFlags,
): Promise<void> {
  // Every other command starts faster without them.
  const { SHAPES } = await import("../../resources/schemas/shapes.ts");
  const { jsonSchemaOf } = await import(
    "../../resources/schemas/json_schema.ts"
  );
  const all = Object.entries(SHAPES);
  const shape = name === undefined ? null : SHAPES[name] ?? null;
  if (name !== undefined && shape === null) {
    throw new UsageError(
      `Wrong <name>: there is no shape "${name}"; all are listed by: ` +
        "rampkit schema",
    );
  }
  const wanted = shape === null || name === undefined
    ? all
    : [[name, shape] as const];
  const textOf = ([name, shape]: (typeof wanted)[number]) =>
    `${JSON.stringify(jsonSchemaOf(name, shape.component), null, 2)}\n`;
  if (output !== undefined) {
    await makeFolder(output);
    for (const one of wanted) {
      using file = openOutput(io, join(output, `${one[0]}.schema.json`));
      file.write(textOf(one));
      file.finish();
    }
    return line(io, `Wrote ${counted(wanted.length, "schema")} to ${output}`);
  }
  if (shape !== null) return io.out(textOf([name ?? "", shape]));
  if (json) {
    for (const [name, { description, commands }] of all) {
      jsonLine(io, { name, description, commands });
    }
    return;
  }
  // Beside what prints it, what a shape is would be cut to a few words.
  const isWide = io.columns === null || io.columns >= WIDE;
  lines(io, [
    drawTable(
      [
        { title: "Shape", whole: true },
        { title: "What it is" },
        ...(isWide ? [{ title: "Printed by" }] : []),
      ],
      all.map(([name, { description, commands }]) => [
        name,
        description,
        ...(isWide ? [commands.join(", ")] : []),
      ]),
      io.columns,
    ),
  ]);
}

/** Columns from which a terminal has room for what prints a shape. */
const WIDE = 120;

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `Cannot make the folder ${folder}: ${messageOf(error)}`,
    );
  }
}
