import { readFile } from "node:fs/promises";
import { errorCode, messageOf } from "../../core/guards.ts";
import type { Config } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { createChainWitness } from "../../witness/chain_witness.ts";
import type { ChainWitness } from "../../witness/transfer.ts";
import type { Chains, ChainsFile } from "../../witness/chains_file.ts";
import { sleep as sleepFor } from "../../core/waiting/waiting.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { Finding } from "../../resources/health/finding.ts";
import { nodeFindings } from "../../resources/health/stored_health.ts";
import { lookAtOrder, type OrderLook } from "../../witness/look_at_order.ts";
import { createWatcher } from "../../witness/watcher.ts";
import { NodeWatch, probeNodes } from "../../witness/node_health.ts";
import type { Log } from "../monitoring/logger.ts";

/** The partner's own nodes, and what asks them. */
interface OpenWitness {
  /** The networks that can be asked. */
  readonly chains: Chains;
  /** Asks the nodes. */
  readonly witness: ChainWitness;
  /** Sends requests to them. */
  readonly fetch: typeof fetch;
}

/** Where the nodes are named. */
interface WitnessSource {
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

/** What asks the partner's chain nodes in this process. */
export interface WitnessService {
  /** Looks at one order now, and records what says something new. */
  readonly look: (orderId: string) => Promise<OrderLook>;
  /**
   * Looks at each success until it is settled, while this process holds the
   * ledger's lease for it; and checks each node, until the signal is aborted.
   */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Health of the nodes. */
  readonly health: () => readonly Finding[];
}

/** What it works with. */
interface WitnessParts {
  /** Settings. */
  readonly config: Pick<Config, "chainsFile" | "requireWitness">;
  /** The open ledger. */
  readonly ledger: Ledger;
  /** The log. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** The nodes, in place of a file of them. @default {the file that is named} */
  readonly chains?: ChainsFile;
  /** Sends requests to the nodes. @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
  /** Waits. @default {a timer} */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Interval between two checks of a node, ms. */
const PROBE_EVERY_MS = 5 * 60_000;
/** A failing node is checked again sooner: one failure does not count. */
const PROBE_AGAIN_MS = 30_000;

/**
 * Reads the partner's chain nodes, and makes the ledger wait for them where the
 * settings say so.
 *
 * @throws {UsageError} When the file of nodes cannot be used, or releases are to
 * wait for nodes that are not configured.
 * @throws {LedgerError} When the ledger fails.
 */
export async function composeWitness(
  parts: WitnessParts,
): Promise<WitnessService | null> {
  const { config, ledger, log, now, sleep = sleepFor } = parts;
  const { requireWitness: rule } = config;
  const nodes = await openWitness(parts, ledger.environment);
  if (nodes === null && rule !== null && rule !== "off") {
    throw new UsageError(
      `Wrong ${VARIABLES.requireWitness}: releases cannot wait for chain ` +
        `nodes that are not known; set ${VARIABLES.chainsFile}`,
    );
  }
  if (rule !== null) await ledger.requireWitness(rule);
  if (nodes === null) return null;
  const watch = new NodeWatch(now);
  const witness: ChainWitness = {
    look: async (question, signal) => {
      const look = await nodes.witness.look(question, signal);
      if (!signal?.aborted) watch.take(question.network, look);
      return look;
    },
  };
  const report = (error: unknown) =>
    log("error", "witness_failed", { message: messageOf(error) });
  const probe = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const probed = await probeNodes({ ...nodes, now, signal });
      if (signal.aborted) return;
      for (const { network, node, problem } of probed) {
        watch.probed(network, node, problem);
      }
      const isFine = probed.every(({ problem }) => problem === null);
      await sleep(isFine ? PROBE_EVERY_MS : PROBE_AGAIN_MS, signal)
        .catch(() => {});
    }
  };
  return {
    look: async (orderId) => {
      const looked = await lookAtOrder(ledger, orderId, { witness, now });
      if (looked.recorded) await ledger.project();
      return looked;
    },
    run: async (signal) => {
      const { chains } = nodes;
      const watcher = createWatcher({
        ...{ ledger, witness, chains, now, sleep },
        onError: report,
      });
      await Promise.all([watcher.run(signal), probe(signal)]);
    },
    health: () => nodeFindings(watch.states()),
  };
}
