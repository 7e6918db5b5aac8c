import assert from "node:assert/strict";
import { LedgerError, type LedgerErrorCode } from "../store/database.ts";

/** Checks that an error is of the ledger's database, and of this code. */
export function failsWith(code: LedgerErrorCode): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof LedgerError, String(error));
    assert.equal(error.code, code, error.message);
    assert.equal(error.name, "LedgerError");
    return true;
  };
}
