import { readFile } from "node:fs/promises";
import { errorCode, messageOf } from "../../core/guards.ts";
import type { Config } from "../../settings/config.ts";
import { UsageError } from "../../settings/errors.ts";
import { VARIABLES } from "../../settings/settings.ts";
import {
  type Chains,
  type ChainWitness,
  createChainWitness,
  readChains,
} from "../../witness/mod.ts";

/** The partner's own nodes, and what asks them. */
export interface OpenWitness {
  /** The networks that can be asked. */
  readonly chains: Chains;
  /** Asks the nodes. */
  readonly witness: ChainWitness;
}

/**
 * Reads the file that names the partner's chain nodes.
 *
 * @param config Where it is.
 * @param environment Environment of the ledger.
 * @param now Clock, milliseconds since the epoch.
 * @returns Null where none is named.
 * @throws {UsageError} When it cannot be read, or says what cannot be used. No
 * message quotes an address: it may hold a key.
 */
export async function openWitness(
  { chainsFile }: Pick<Config, "chainsFile">,
  environment: string,
  now: () => number,
): Promise<OpenWitness | null> {
  if (chainsFile === null) return null;
  const assets = environment === "sandbox" ? "sandbox" : "production";
  const chains = chainsOf(await readJson(chainsFile), assets);
  return { chains, witness: createChainWitness({ chains, assets, now }) };
}

async function readJson(path: string): Promise<unknown> {
  const wrong = (why: string) =>
    new UsageError(`Wrong ${VARIABLES.chainsFile}: ${path}: ${why}`);
  const text = await readFile(path, "utf8").catch((error) => {
    throw wrong(
      errorCode(error) === "ENOENT"
        ? "there is no such file"
        : messageOf(error),
    );
  });
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says would quote the file.
    throw wrong("it is no JSON");
  }
}

function chainsOf(
  file: unknown,
  assets: "sandbox" | "production",
): Chains {
  try {
    return readChains(file, assets);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
