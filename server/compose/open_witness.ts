import { readFile } from "node:fs/promises";
import { errorCode, messageOf } from "../../core/guards.ts";
import type { Config } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { createChainWitness } from "../../witness/chain_witness.ts";
import type { ChainWitness } from "../../witness/transfer.ts";
import type { Chains, ChainsFile } from "../../witness/chains_file.ts";

/** The partner's own nodes, and what asks them. */
export interface OpenWitness {
  /** The networks that can be asked. */
  readonly chains: Chains;
  /** Asks the nodes. */
  readonly witness: ChainWitness;
  /** Sends requests to them. */
  readonly fetch: typeof fetch;
}

/** Where the nodes are named. */
export interface WitnessSource {
  /** The file, by the settings. */
  readonly config: Pick<Config, "chainsFile">;
  /** The nodes, in place of a file of them. @default {the file that is named} */
  readonly chains?: ChainsFile;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Sends requests to the nodes. @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
}

/**
 * Reads the file that names the partner's chain nodes.
 *
 * @throws {UsageError} When it cannot be read, or says what cannot be used. No
 * message quotes an address: it may hold a key.
 */
export async function openWitness(
  { config: { chainsFile }, chains: given, now, fetch: send = fetch }:
    WitnessSource,
  environment: string,
): Promise<OpenWitness | null> {
  const file = given ??
    (chainsFile === null ? null : await readJson(chainsFile));
  if (file === null) return null;
  const assets = environment === "sandbox" ? "sandbox" : "production";
  const chains = await chainsOf(file, assets);
  const witness = createChainWitness({ chains, assets, now, fetch: send });
  return { chains, witness, fetch: send };
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
    throw wrong("it is not JSON");
  }
}

async function chainsOf(
  file: unknown,
  assets: "sandbox" | "production",
): Promise<Chains> {
  // Few name nodes, and zod takes as long to load as a third of the rest.
  const { readChains } = await import("../../witness/chains_file.ts");
  try {
    return readChains(file, assets);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
