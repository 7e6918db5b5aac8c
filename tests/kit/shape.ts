import assert from "node:assert/strict";
import * as z from "zod";
import { jsonSchemaOf } from "../../resources/schemas/json_schema.ts";
import { SHAPES } from "../../resources/schemas/shapes.ts";

/**
 * Holds an answer against the schema that `rampkit schema` prints: it is valid,
 * and has nothing beside it.
 */
export function hasShape(name: string, answer: unknown): void {
  const read = readerOf(name).safeParse(answer);
  if (!read.success) assert.fail(`${name}: ${z.prettifyError(read.error)}`);
}

/** The schema that \`rampkit schema\` prints, to read with. */
export function schemaReader(name: string): z.ZodType {
  const schema = jsonSchemaOf(name, SHAPES[name]?.component ?? "");
  return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
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
