import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { monthReading } from "../../ledger/testing/month_test_events.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { hasDocumentedShape } from "../kit/documented_shape.ts";

/** A ledger with two orders of November, and files beside it. */
async function november() {
  const file = await temporaryLedger();
  await using ledger = await openLedger({
    url: file.url,
    environment: "sandbox",
    worker: false,
  });
  await ledger.append([
    monthReading({ order: "O1", at: "2025-11-20T10:00:00Z" }),
    monthReading({ order: "O2", at: "2025-11-21T10:00:00Z" }),
  ]);
  const write = async (name: string, text: string) => {
    const path = `${file.folder}/${name}`;
    await Deno.writeTextFile(path, text);
    return path;
  };
  return { ...file, write, [Symbol.asyncDispose]: file[Symbol.asyncDispose] };
}

const MAP = {
  columns: { orderId: "Order", amount: "Paid", day: "Day" },
  currency: "USD",
};

Deno.test("rampkit statement match exits with 0 where nothing is left, and with 3 where something is", async () => {
  await using ledger = await november();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const map = await ledger.write("map.json", JSON.stringify(MAP));
  const match = async (rows: string, ...flags: readonly string[]) =>
    await cli([
      ...["statement", "match"],
      await ledger.write("statement.csv", `Order,Paid,Day\n${rows}`),
      ...["--map", map, ...flags],
    ], env);
  const whole = "O1,30.10,2025-11-20\n,30.1,2025-11-21\n";
  const fine = await match(whole);
  assert.equal(fine.code, 0, fine.err);
  assert.match(fine.out, /^2 rows of .* 2025-11, which is not closed matched/);

  const left = await match("O1,30.11,2025-11-20\n", "--json");
  assert.equal(left.code, 3);
  const json = JSON.parse(left.out);
  await hasDocumentedShape("statement match", json);
  assert.deepEqual(
    json.rows.map((
      { result, line }: Record<string, unknown>,
    ) => [line, result]),
    [[2, "differs"], [null, "only_here"]],
  );
  const both = "O1,30.10,2025-11-20\nO2,30.10,2025-12-01\n";
  const several = await match(both);
  assert.equal(several.code, 1);
  assert.match(several.err, /lie in 2025-11, 2025-12; add --month/);
  const one = await match(both, "--month", "2025-11");
  assert.equal(one.code, 3);
  assert.match(one.out, /day: 2025-12-01 there, 2025-11-21 here \(\+10 days\)/);
});

Deno.test("rampkit statement match says which file is wrong, and where", async () => {
  await using ledger = await november();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const statement = await ledger.write("statement.csv", "Order,Paid\nO1,1\n");
  const match = async (map: string) => {
    const path = await ledger.write("map.json", map);
    return await cli(["statement", "match", statement, "--map", path], env);
  };
  const broken = await match("{");
  assert.equal(broken.code, 2);
  assert.match(broken.err, /Wrong --map: .*map\.json is not JSON/);
  const unknown = await match('{"columns":{"id":"Order"}}');
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /Wrong columns: "id".*\(in .*map\.json\)/);
  const other = await match('{"columns":{"orderId":"Id"}}');
  assert.equal(other.code, 1);
  assert.match(
    other.err,
    /has no column "Id"; its columns are "Order", "Paid"/,
  );
  const none = await cli(
    ["statement", "match", "none.csv", "--map", "none.json"],
    env,
  );
  assert.equal(none.code, 1);
  assert.match(none.err, /Cannot read none\.csv/);
});
