import assert from "node:assert/strict";
import * as z from "zod";
import {
  documentedShapes,
  hasShape,
} from "../../tests/kit/documented_shape.ts";
import { jsonCommands } from "../../tests/kit/json_commands.ts";
import { jsonSchemaOf } from "./json_schema.ts";
import { SHAPES } from "./shapes.ts";

/** The examples of COMMANDS.md, by the name of their shape. */
async function examples(): Promise<[string, unknown][]> {
  const documented = await documentedShapes();
  return Object.entries(SHAPES).flatMap(([name, { heading }]) =>
    heading === null ? [] : [[name, documented.get(heading)]]
  );
}

Deno.test("every example in COMMANDS.md is valid against its schema, and has no field that it lacks", async () => {
  const headings = Object.values(SHAPES).map(({ heading }) => heading)
    .filter((heading) => heading !== null);
  assert.deepEqual(
    headings.toSorted(),
    [...(await documentedShapes()).keys()].sort(),
  );
  for (const [name, example] of await examples()) {
    hasShape(name, example);
  }
});

Deno.test("every schema refuses another type in the place of each value, and a field that is missing", async () => {
  let refused = 0;
  for (const [name, example] of await examples()) {
    const schema = schemaOf(name);
    for (const path of paths(example)) {
      const wrong = structuredClone({ example });
      put(wrong, ["example", ...path], { wrong: [] });
      assert.equal(
        schema.safeParse(wrong.example).success,
        false,
        `${name}: an object in the place of ${path.join(".")}`,
      );
      refused++;
    }
    for (const field of Object.keys(Object(example))) {
      const { [field]: _, ...others } = Object(example);
      assert.equal(
        schema.safeParse(others).success,
        false,
        `${name} without ${field}`,
      );
    }
  }
  assert.ok(refused > 500, `only ${refused} values were replaced`);
});

Deno.test("the JSON Schema of a shape accepts its example, fields added later too, and refuses another type", async () => {
  for (const [name, example] of await examples()) {
    const schema = schemaOf(name);
    const later = { ...Object(example), addedLater: true };
    for (const accepted of [example, later]) {
      const { success, error } = schema.safeParse(accepted);
      assert.ok(success, `${name}: ${error?.message}`);
    }
    for (const field of Object.keys(Object(example))) {
      const wrong = { ...Object(example), [field]: { wrong: [] } };
      assert.equal(schema.safeParse(wrong).success, false, `${name} ${field}`);
    }
  }
});

Deno.test("every command with --json has a schema, and every schema names commands that there are", () => {
  const commands = jsonCommands();
  const named = Object.values(SHAPES).flatMap(({ commands }) => commands)
    .map((command) => command.replace(/ (?:--|[A-Z]{2}).*$/, ""));
  // They print JSON without the flag.
  const withoutFlag = ["orders export", "webhook parse", "ledger export"];
  assert.deepEqual(
    [...new Set(named)].sort(),
    [...commands, ...withoutFlag].sort(),
  );
});

Deno.test("every shape says what it is", () => {
  for (const [name, { description }] of Object.entries(SHAPES)) {
    assert.match(description, /^[A-Z]/i, name);
    assert.match(name, /^[a-z]+(-[a-z]+)*$/);
    assert.ok(!description.endsWith("."), name);
  }
});

function schemaOf(name: string): z.ZodType {
  return z.fromJSONSchema(
    jsonSchemaOf(
      name,
      SHAPES[name]?.component ?? "",
    ) as z.core.JSONSchema.JSONSchema,
  );
}

/** Paths to every value but the empty one. */
function paths(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [key],
    ...paths(inner).map((path) => [key, ...path]),
  ]);
}

function put(at: unknown, path: readonly string[], value: unknown): void {
  const [key = "", ...rest] = path;
  const holder: Record<string, unknown> = Object(at);
  if (rest.length === 0) holder[key] = value;
  else put(holder[key], rest, value);
}
