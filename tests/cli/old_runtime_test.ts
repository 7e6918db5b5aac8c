import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { startOnramp } from "../../server/start.ts";
import { cli } from "../kit/cli.ts";

Deno.test("commands, startOnramp() and openLedger() say at once that Node 20 is too old", async () => {
  const holder = JSON as { rawJSON?: unknown };
  const { rawJSON } = holder;
  const maps = Map as { groupBy?: unknown };
  const { groupBy } = maps;
  const advice = /use Deno, Bun, or Node 22\.22\.3 or later$/m;
  try {
    delete holder.rawJSON;
    delete maps.groupBy;
    const { code, err } = await cli(["serve"], {});
    assert.equal(code, 1, err);
    assert.match(err, advice);
    assert.equal((await cli(["--help"])).code, 0);
    await assert.rejects(startOnramp({ env: () => undefined }), {
      message: advice,
    });
    await assert.rejects(
      openLedger({ url: ":memory:", environment: "sandbox" }),
      { message: advice },
    );
  } finally {
    holder.rawJSON = rawJSON;
    maps.groupBy = groupBy;
  }
});
