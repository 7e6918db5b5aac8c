import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { assets } from "../../core/assets/assets.ts";

const tables = ["production", "sandbox"] as const;

Deno.test("AssetPair compiles for exactly the pairs of the asset tables", async () => {
  const directory = await Deno.makeTempDir({ prefix: "asset_pair" });
  try {
    const file = `${directory}/every_pair.ts`;
    await Deno.writeTextFile(file, everyPair());
    const { code, stderr } = await new Deno.Command("deno", {
      args: ["check", "--quiet", "--no-lock", "--no-config", file],
      env: { NO_COLOR: "1" },
      stdout: "null",
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "");
    assert.equal(code, 0);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

/** Legal pairs must compile; `@ts-expect-error` fails where one compiles that must not. */
function everyPair(): string {
  const door = new URL("./asset_pair.ts", import.meta.url).href;
  const lines = [`import type { AssetPair } from ${JSON.stringify(door)};`];
  for (const table of tables) {
    lines.push(`export const ${table}: AssetPair<"${table}">[] = [];`);
    const all = tables.flatMap((name) => assets[name]);
    const networks = new Set(all.map(({ network }) => network));
    const commodities = new Set(all.map(({ commodity }) => commodity));
    for (const commodity of commodities) {
      for (const network of networks) {
        const isListed = assets[table].some((asset) => {
          return asset.commodity === commodity && asset.network === network;
        });
        const pair = JSON.stringify({ commodity, network });
        if (!isListed) lines.push("// @ts-expect-error: not listed");
        lines.push(`${table}.push(${pair});`);
      }
    }
  }
  assert.ok(lines.length > 1_000);
  return lines.join("\n");
}

Deno.test("widgetOptions() and draftOptions() refuse illegal pairs at compile time", async () => {
  const door = new URL("../mod.ts", import.meta.url).href;
  const directory = await Deno.makeTempDir({ prefix: "widget_options" });
  const file = `${directory}/calls.ts`;
  try {
    await Deno.writeTextFile(
      file,
      `
import { draftOptions, type WidgetAssetTable } from ${JSON.stringify(door)};
const sandbox = { environment: "sandbox" } as const;
const production = { environment: "production" } as const;
const partner_id = "p";

draftOptions({ partner_id, commodity: "TT", network: "amoy" }, sandbox);
// @ts-expect-error: bitcoin is not in the sandbox
draftOptions({ partner_id, commodity: "BTC", network: "bitcoin" }, sandbox);
draftOptions({ partner_id, commodity: "BTC", network: "bitcoin" }, production);
// @ts-expect-error: a pair, not two lists
draftOptions({ partner_id, commodity: "BTC", network: "bsc" }, production);
// @ts-expect-error: both names or neither
draftOptions({ partner_id, commodity: "BTC" }, production);
draftOptions({ partner_id, commodity: "NEW", network: "chain" }, {
  environment: "sandbox",
  allowUnlistedAssets: true,
});
const someday = { environment: "sandbox", allowUnlistedAssets: Date.now() > 0 };
draftOptions({ partner_id, commodity: "NEW", network: "chain" }, {
  environment: "sandbox",
  allowUnlistedAssets: someday.allowUnlistedAssets,
});
draftOptions({
  partner_id,
  commodities: [{ commodity: "TT", network: "bsc" }],
  extra: { wallets: [{ name: "TT", network: "bsc", address: "0x" }] },
}, sandbox);
draftOptions({
  partner_id,
  // @ts-expect-error: not in the sandbox
  extra: { wallets: [{ name: "USDT", network: "bsc", address: "0x" }] },
}, sandbox);
// @ts-expect-error: not in the sandbox
draftOptions({ partner_id, commodities: [{ commodity: "USDT", network: "bsc" }] }, sandbox);
draftOptions({ partner_id, currencies: ["EUR"] }, production);
// @ts-expect-error: only USD
draftOptions({ partner_id, currencies: ["EUR"] }, sandbox);
// @ts-expect-error: no number
draftOptions({ partner_id, currency_amount: 25 }, sandbox);
// @ts-expect-error: no string
draftOptions({ partner_id, hide_fee_breakdown: "false" }, sandbox);
// @ts-expect-error: the session comes at the click
draftOptions({ partner_id, session_id: "s" }, sandbox);
const own = { widgetOrigin: "http://127.0.0.1:1", assets: "sandbox" } as const;
draftOptions({ partner_id, commodity: "TT", network: "amoy" }, { environment: own });
// @ts-expect-error: the own environment is a sandbox
draftOptions({ partner_id, commodity: "BTC", network: "bitcoin" }, { environment: own });
const wide: { widgetOrigin: string; assets: WidgetAssetTable } = own;
draftOptions({ partner_id, commodity: "BTC", network: "bitcoin" }, { environment: wide });
// @ts-expect-error: in neither table
draftOptions({ partner_id, commodity: "BTC", network: "amoy" }, { environment: wide });
`,
    );
    const config = fileURLToPath(
      new URL("../browser_check.json", import.meta.url),
    );
    const { stderr, code } = await new Deno.Command("deno", {
      args: ["check", "--quiet", "--no-lock", "--config", config, file],
      env: { NO_COLOR: "1" },
      stdout: "null",
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "");
    assert.equal(code, 0);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
