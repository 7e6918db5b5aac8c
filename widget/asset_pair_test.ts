import assert from "node:assert/strict";
import { assets } from "../core/assets/assets.ts";
import { temporaryFolder } from "../tests/kit/temporary_folder.ts";

const tables = ["production", "sandbox"] as const;

/** Files that have to compile with the browser's types; checked at once. */
const checked: Record<string, () => string> = {
  "every_pair.ts": everyPair,
  "calls.ts": calls,
};

let errors: Promise<string> | undefined;

/** What the compiler says of a file; nothing when it compiles. */
async function errorsIn(name: string): Promise<string> {
  const all = await (errors ??= check());
  // Each error ends with the place where it is.
  return all.split("\n\n").filter((text) => text.includes(`/${name}:`))
    .join("\n\n");
}

async function check(): Promise<string> {
  await using directory = await temporaryFolder();
  const files = Object.entries(checked).map(([name, text]) => {
    Deno.writeTextFileSync(`${directory.path}/${name}`, text());
    return `${directory.path}/${name}`;
  });
  const config = new URL("./browser_check.json", import.meta.url).pathname;
  const { code, stderr } = await new Deno.Command("deno", {
    args: ["check", "--quiet", "--no-lock", "--config", config, ...files],
    env: { NO_COLOR: "1" },
    stdout: "null",
  }).output();
  const said = new TextDecoder().decode(stderr);
  // An error in neither file would else be nobody's.
  const named = Object.keys(checked).some((name) => said.includes(name));
  assert.ok(code === 0 || named, said);
  return said;
}

Deno.test("AssetPair compiles for exactly the pairs of the asset tables", async () => {
  assert.equal(await errorsIn("every_pair.ts"), "");
});

/** Says of each pair whether it is listed: a wrong answer does not compile. */
function everyPair(): string {
  const door = new URL("../core/assets/assets.ts", import.meta.url).href;
  const lines = [
    `import type { AssetPair } from ${JSON.stringify(door)};`,
    'type Is<T extends "production" | "sandbox", C, N> =',
    "  { commodity: C; network: N } extends AssetPair<T> ? true : false;",
  ];
  let count = 0;
  for (const table of tables) {
    const all = tables.flatMap((name) => assets[name]);
    const networks = new Set(all.map(({ network }) => network));
    const commodities = new Set(all.map(({ commodity }) => commodity));
    for (const commodity of commodities) {
      for (const network of networks) {
        const isListed = assets[table].some((asset) => {
          return asset.commodity === commodity && asset.network === network;
        });
        const names = JSON.stringify([table, commodity, network]).slice(1, -1);
        lines.push(`export const p${count++}: Is<${names}> = ${isListed};`);
      }
    }
  }
  assert.ok(lines.length > 1_000);
  return lines.join("\n");
}

Deno.test("widgetOptions() and draftOptions() refuse illegal pairs at compile time", async () => {
  assert.equal(await errorsIn("calls.ts"), "");
});

function calls(): string {
  const door = new URL("./mod.ts", import.meta.url).href;
  return `
import { draftOptions, type AssetTable } from ${JSON.stringify(door)};
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
const wide: { widgetOrigin: string; assets: AssetTable } = own;
draftOptions({ partner_id, commodity: "BTC", network: "bitcoin" }, { environment: wide });
// @ts-expect-error: in neither table
draftOptions({ partner_id, commodity: "BTC", network: "amoy" }, { environment: wide });
`;
}
