import assert from "node:assert/strict";
import { componentSchemas, jsonSchemaOf } from "./json_schema.ts";
import { SHAPES } from "./shapes.ts";

Deno.test("jsonSchemaOf() writes schemas that are whole in themselves, and open for fields added later", () => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    const schema = jsonSchemaOf(name, shape);
    assert.equal(
      schema.$schema,
      "https://json-schema.org/draft/2020-12/schema",
    );
    assert.equal(schema.title, name);
    const made = JSON.stringify(schema);
    assert.ok(!made.includes(`"additionalProperties":false`), name);
    for (const [, id = ""] of made.matchAll(/"\$ref":"([^"]*)"/g)) {
      assert.match(id, /^#\/\$defs\/[A-Z]\w+$/);
      assert.ok(Object(schema.$defs)[id.slice("#/$defs/".length)], id);
    }
  }
});

Deno.test("componentSchemas() refer to each other as components, with their descriptions", () => {
  const components = componentSchemas();
  const made = JSON.stringify(components);
  for (const [, id = ""] of made.matchAll(/"\$ref":"([^"]*)"/g)) {
    assert.ok(components[id.replace("#/components/schemas/", "")], id);
  }
  assert.ok(components.Order?.description);
  assert.deepEqual(Object(components.Transition?.properties).recordedAt, {
    type: "string",
    format: "date-time",
  });
});

Deno.test("jsonSchemaOf() leaves the statuses of the service open, and its own lists closed", () => {
  const { Order = {}, OrderStatus = {}, Release = {} } = componentSchemas();
  assert.deepEqual(Object(OrderStatus.anyOf)[1], { type: "string" });
  assert.deepEqual(Release.enum, ["yes", "no", "wait"]);
  assert.ok((Order.required as string[]).includes("anomalies"));
});
