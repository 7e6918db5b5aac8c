import * as z from "zod";
import { NOTES } from "./_building.ts";
import { FIELD_NOTES } from "./field_notes.ts";
import type { Shape } from "./shapes.ts";
// Every schema gives itself a name when its file is loaded.
import "./shapes.ts";

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * JSON Schema (2020-12) of a shape, whole in itself. Fields that are added
 * later are allowed, as COMMANDS.md promises that there will be some.
 *
 * @param title Name of the shape.
 */
export function jsonSchemaOf(title: string, { schema }: Shape): JsonSchema {
  const { $schema, ...made } = z.toJSONSchema(schema, {
    ...SETTINGS,
    metadata: NOTES,
  });
  describeFields(Object(made.$defs));
  return { $schema, title, ...made };
}

/**
 * JSON Schemas of everything that has a name, such as `Order` and `Anomaly`,
 * which refer to each other as the components of an OpenAPI document do.
 *
 * @param prefix What stands before the name of a component.
 */
export function componentSchemas(
  prefix = "#/components/schemas/",
): Readonly<Record<string, JsonSchema>> {
  const { schemas } = z.toJSONSchema(NOTES, {
    ...SETTINGS,
    metadata: NOTES,
    uri: (id) => `${prefix}${id}`,
  });
  describeFields(schemas);
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...made }]) => [
      id,
      made as JsonSchema,
    ]),
  );
}

/** The input of a schema has no `additionalProperties: false`. */
const SETTINGS = {
  io: "input",
  target: "draft-2020-12",
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    // They only say that a number is a whole number of JavaScript.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) {
      delete jsonSchema.maximum;
    }
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
      delete jsonSchema.minimum;
    }
    delete jsonSchema.propertyNames;
  },
} as const;

/** Says of the fields of objects that have a name what they are. */
function describeFields(schemas: Readonly<Record<string, unknown>>): void {
  for (const [id, notes] of Object.entries(FIELD_NOTES)) {
    const fields: Record<string, Record<string, unknown>> = Object(
      Object(schemas[id]).properties,
    );
    for (const [field, schema] of Object.entries(fields)) {
      const description = notes[field];
      if (description !== undefined) schema.description = description;
    }
  }
}
