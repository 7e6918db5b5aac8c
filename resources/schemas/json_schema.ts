import components from "./components.json" with { type: "json" };

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * JSON Schemas of everything that has a name, such as `Order` and `Anomaly`,
 * which refer to each other as the components of an OpenAPI document do. They
 * are made of the types: `deno task schemas`.
 */
export const COMPONENTS: Readonly<Record<string, JsonSchema>> = components;

/**
 * JSON Schema (2020-12) of a component, whole in itself. Fields that are added
 * later are allowed, as docs/reference/commands.md announces.
 */
export function jsonSchemaOf(title: string, component: string): JsonSchema {
  const schema = { $ref: `#/components/schemas/${component}` };
  const text = JSON.stringify({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    ...schema,
    $defs: schemasUsedBy(schema, COMPONENTS),
  });
  return JSON.parse(
    text.replaceAll('"$ref":"#/components/schemas/', '"$ref":"#/$defs/'),
  );
}

const REFERENCE = /"\$ref":"#\/components\/schemas\/(\w+)"/g;

/** The schemas that something refers to, and those that these refer to. */
export function schemasUsedBy(
  value: unknown,
  schemas: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, JsonSchema>> {
  const used: Record<string, JsonSchema> = {};
  const look = (inside: unknown) => {
    for (const [, name = ""] of JSON.stringify(inside).matchAll(REFERENCE)) {
      const schema = schemas[name];
      if (schema === undefined || Object.hasOwn(used, name)) continue;
      used[name] = schema;
      look(schema);
    }
  };
  look(value);
  return used;
}
