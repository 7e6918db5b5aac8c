/**
 * What bodies with new identifiers take on disk, after they are folded and
 * chained: bytes a byte received, and bytes of each table and index a body.
 *
 * ```sh
 * deno run -A bench/floods/disk.ts [BODIES] [LENGTH...]
 * ```
 *
 * @module
 */

import { stat } from "node:fs/promises";
import { ulid } from "ulid";
import { openDriver, openLedger } from "../../ledger/mod.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import {
  identifierBody,
  IDENTIFIERS,
} from "../../tests/kit/identifier_bodies.ts";

const [count = 1000, ...given] = Deno.args.map(Number);
const lengths = given.length > 0 ? given : [1, 10, 100, 256];

for (const character of ["x", "\u754c"]) {
  for (const length of lengths) {
    for (const names of [...IDENTIFIERS.map((one) => [one]), IDENTIFIERS]) {
      await measure(character, length, names);
    }
  }
}

async function measure(
  character: string,
  length: number,
  names: readonly string[],
): Promise<void> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/ledger.db`;
  const open = () =>
    openLedger({
      url: `file:${path}`,
      environment: "sandbox",
    });
  await (await open()).close();
  const { size: empty } = await stat(path);
  const ledger = await open();
  let received = 0;
  for (let at = 0; at < count; at++) {
    const body = identifierBody({ at, names, length, character });
    received += body.length;
    await ledger.appendDelivery({
      id: ulid(),
      receivedAt: new Date(Date.UTC(2026, 10, 20) + at).toISOString(),
      body,
    });
  }
  await ledger.project();
  await ledger.chain();
  await ledger.close();
  const { size } = await stat(path);
  const bytes = (size - empty) / count;
  const bodyBytes = received / count;
  const bound = 3 * bodyBytes + 8192;
  console.log(
    `${bytes > bound ? "OVER " : "     "}${character} ${length} ${
      names.join("+")
    }: ` +
      `${bodyBytes.toFixed(0)} received, ${bytes.toFixed(0)} on disk, ` +
      `${((bytes - 8192) / bodyBytes).toFixed(2)} a byte beyond 8 KiB`,
  );
  if (Deno.env.get("TABLES") === undefined) return;
  const driver = await openDriver({ url: `file:${path}`, worker: false });
  const [rows] = await driver.batch([{
    sql: `SELECT name, sum(pgsize), sum(pagetype = 'overflow'), sum(unused)
      FROM dbstat GROUP BY name
      HAVING sum(pgsize) > 20000 ORDER BY 2 DESC`,
    args: [],
  }], "read");
  for (const [name, total, overflow, unused] of rows?.rows ?? []) {
    console.log(
      `    ${String(Math.round(Number(total) / count)).padStart(7)} ${name}` +
        ` (overflow pages ${overflow}, unused ${
          Math.round(Number(unused) / count)
        })`,
    );
  }
  await driver.close();
}
