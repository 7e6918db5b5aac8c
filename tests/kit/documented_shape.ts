import assert from "node:assert/strict";
import * as z from "zod";
import { jsonSchemaOf } from "../../resources/schemas/json_schema.ts";
import { SHAPES } from "../../resources/schemas/shapes.ts";

/**
 * Holds an answer against the schema of the shape that COMMANDS.md documents
 * under a heading: it is valid, and has no field that the schema lacks.
 */
export async function hasDocumentedShape(
  heading: string,
  answer: unknown,
): Promise<void> {
  const examples = await documentedShapes();
  assert.ok(examples.has(heading), `COMMANDS.md has no shape of ${heading}`);
  const shape = Object.entries(SHAPES).find(([, one]) =>
    one.heading === heading
  );
  assert.ok(shape, `There is no schema of ${heading}`);
  hasShape(shape[0], answer);
}

/**
 * Holds an answer against the schema that `rampkit schema` prints: it is valid,
 * and has nothing beside it.
 */
export function hasShape(name: string, answer: unknown): void {
  const read = readerOf(name).safeParse(answer);
  if (!read.success) assert.fail(`${name}: ${z.prettifyError(read.error)}`);
}

/** Made once: to make one takes longer than to read many answers. */
const readers = new Map<string, z.ZodType>();

function readerOf(name: string): z.ZodType {
  let reader = readers.get(name);
  if (reader === undefined) {
    const shape = SHAPES[name];
    assert.ok(shape, name);
    const schema = closed(jsonSchemaOf(name, shape.component));
    reader = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
    readers.set(name, reader);
  }
  return reader;
}

/** The same schema, but nothing may be there that it does not name. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  );
  return typeof inner.properties === "object" && inner.type === "object" &&
      inner.additionalProperties === undefined
    ? { ...inner, additionalProperties: false }
    : inner;
}

/**
 * The headings that have an example, and the examples. An empty object stands
 * for an order, which has an example of its own.
 */
export function documentedShapes(): Promise<ReadonlyMap<string, unknown>> {
  return documented ??= readShapes();
}

let documented: Promise<ReadonlyMap<string, unknown>> | undefined;

async function readShapes(): Promise<ReadonlyMap<string, unknown>> {
  const text = await Deno.readTextFile(
    new URL("../../COMMANDS.md", import.meta.url),
  );
  const shapes = new Map<string, unknown>();
  for (const section of text.split(/^### /m).slice(1)) {
    const heading = section.slice(0, section.indexOf("\n"));
    const example = /^```json\n([\s\S]*?)^```/m.exec(section)?.[1];
    if (example !== undefined) shapes.set(heading, JSON.parse(example));
  }
  const order = shapes.get(SHAPES.order?.heading ?? "");
  return new Map(
    [...shapes].map(([heading, example]) => [heading, filled(example, order)]),
  );
}

function filled(value: unknown, order: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => filled(one, order));
  const fields = Object.entries(value);
  return fields.length === 0
    ? order
    : Object.fromEntries(fields.map(([key, one]) => [key, filled(one, order)]));
}
