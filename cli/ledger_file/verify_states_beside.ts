import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import {
  type Ledger,
  openDriver,
  type StatesVerification,
} from "../../ledger/mod.ts";
import type { Io } from "../program/io.ts";
import { progress } from "../program/progress.ts";

/**
 * Compares stored states with a fold from nothing in a temporary file, which
 * only its owner can read and which is removed at the end.
 */
export async function verifyStatesBeside(
  io: Io,
  ledger: Ledger,
  showProgress: boolean,
): Promise<StatesVerification> {
  const folder = await mkdtemp(`${tmpdir()}/rampkit-verify-`);
  try {
    const scratch = await openDriver({
      url: `file:${encodeURI(folder)}/states.db`,
    });
    try {
      using bar = progress(io, "events folded", showProgress);
      const found = await ledger.verifyStates({
        scratch,
        signal: io.signal,
        onProgress: (events) => bar.at(events),
      });
      bar.end();
      return found;
    } finally {
      await scratch.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
