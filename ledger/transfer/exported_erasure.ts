import { hex } from "@scure/base";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import { noteImportedErasures } from "../store/tables/erasure/erasures.ts";
import {
  ERASURE_TABLES,
  type ErasureTable,
  insertErasureRow,
  selectErasureTable,
} from "../store/tables/erasure/exported_erasures.ts";

/** A row about an erasure, as a line of an export; bytes are hex. */
export interface ExportedErasure {
  /** Which table it is of. */
  readonly erasure: ErasureTable;
  /** Its columns. */
  readonly row: readonly (string | number | null)[];
}

/** How such a line begins. */
const BEGINNING = '{"erasure":';

/**
 * Writes who was erased, and what must not come back, as lines of an export:
 * the ledger that it is imported into knows it too.
 */
export async function* exportErasures(driver: Driver): AsyncGenerator<string> {
  const results = await driver.batch(
    ERASURE_TABLES.map(selectErasureTable),
    "read",
  );
  for (const [at, erasure] of ERASURE_TABLES.entries()) {
    for (const row of results[at]?.rows ?? []) {
      const line: ExportedErasure = { erasure, row: row.map(exported) };
      yield JSON.stringify(line);
    }
  }
}

function exported(value: SqlValue): string | number | null {
  return value instanceof Uint8Array ? hex.encode(value) : value as string;
}

/**
 * Reads a line that {@linkcode exportErasures} wrote.
 *
 * @param line Any line.
 * @returns The statements that store it; null when it is another line.
 * @throws {SyntaxError} When it is not as it was written.
 */
export function importedErasure(line: string): Statement[] | null {
  if (!line.startsWith(BEGINNING)) return null;
  const { erasure, row }: ExportedErasure = JSON.parse(line);
  if (!ERASURE_TABLES.includes(erasure) || !Array.isArray(row)) {
    throw new SyntaxError(
      `"erasure" is ${JSON.stringify(erasure)}, nothing that is known here`,
    );
  }
  return [insertErasureRow(erasure, row), ...noteImportedErasures];
}
