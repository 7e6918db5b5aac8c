import assert from "node:assert/strict";
import * as client from "@rampkit/onramp/client";
import { widgetEnvironment } from "./options.ts";

Deno.test("widgetEnvironment() knows the same presets as the client", () => {
  for (const name of ["production", "sandbox"] as const) {
    const { widgetOrigin, assets } = client[name];
    assert.deepEqual(widgetEnvironment(name), { widgetOrigin, assets });
    assert.deepEqual(widgetEnvironment(client[name]), { widgetOrigin, assets });
  }
});

Deno.test("widgetEnvironment() takes an origin of one's own", () => {
  assert.deepEqual(widgetEnvironment({ widgetOrigin: "http://localhost:1/" }), {
    widgetOrigin: "http://localhost:1",
    assets: "production",
  });
});

Deno.test("widgetEnvironment() refuses what is no bare origin", () => {
  const wrong = [
    "",
    "widget.wert.io",
    "ftp://a.example",
    "https://a.example/b",
  ];
  for (const widgetOrigin of [...wrong, "https://a.example?x", "https://u@a"]) {
    assert.throws(() => widgetEnvironment({ widgetOrigin }), {
      name: "TypeError",
      message: /widgetOrigin is .* use a bare http or https origin$/,
    });
  }
});

Deno.test("widgetEnvironment() refuses unknown names and tables", () => {
  for (const name of ["staging", "toString", ""]) {
    assert.throws(() => widgetEnvironment(name as "sandbox"), TypeError);
  }
  const environment = { widgetOrigin: "https://a.example", assets: "test" };
  assert.throws(
    () => widgetEnvironment(environment as { widgetOrigin: string }),
    /assets is "test"/,
  );
});
