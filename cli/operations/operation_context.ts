import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { LedgerFiles } from "../../resources/operations/ledger_files.ts";
import {
  givenAs,
  type Operation,
  type OperationContext,
  type OperationValues,
  paramsOf,
} from "../../resources/operations/operation.ts";
import { openWitness } from "../../server/compose/open_witness.ts";
import {
  drainLeft,
  leftSpoolFiles,
} from "../../server/ledger_file/left_spool_files.ts";
import { spoolDirectory } from "../../server/ledger_file/spool_directory.ts";
import type { Config } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  serviceClient,
  serviceEnvironment,
} from "../../server/compose/service_client.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { lookAtOrder } from "../../witness/look_at_order.ts";
import { createWatcher } from "../../witness/watcher.ts";
import { backUp } from "../ledger_file/backup.ts";
import { restore } from "../ledger_file/restore.ts";
import { openInput } from "../program/input.ts";
import { type Io, note } from "../program/io.ts";
import type { SharedFlags } from "../program/options.ts";
import { servicePort } from "../program/service_port.ts";
import { taken } from "./operation_options.ts";

/** Flags of the commands of operations, beside those of their parameters. */
export interface OperationFlags extends SharedFlags {
  readonly limit?: number;
  readonly rate?: number;
  readonly yes?: true;
}

/** Files that are read, by how they were named. */
type Inputs = ReadonlyMap<string, AsyncIterable<Uint8Array>>;

/** What a command gives the operation that it does. */
export interface ContextSource {
  readonly io: Io;
  /** The ledger, as the operation opens it. */
  readonly ledger: Ledger;
  readonly config: Config;
  readonly flags: OperationFlags;
  /** The files that are read. */
  readonly inputs: Inputs;
  /** Shows how much is done. */
  readonly onProgress: OperationContext["onProgress"];
  /** Clears what is shown of it. */
  readonly endProgress: () => void;
}

/**
 * What an operation works with in a command.
 *
 * @throws {UsageError} When what it asks is not configured.
 */
export async function operationContext(
  operation: Operation,
  source: ContextSource,
): Promise<OperationContext> {
  const { io, ledger, config, onProgress, endProgress } = source;
  const { asks } = operation;
  return {
    ...{ ledger, now: io.now, signal: io.signal, poller: null, onProgress },
    nowMs: io.now(),
    named: namer(operation),
    // Whether it could be asked is part of some advice.
    service: asks === "chain" ? null : askingPort(operation, source),
    ...asks === "chain" ? await chainPort(io, ledger, config) : {},
    note: (text) => {
      endProgress();
      note(io, text);
    },
    files: filesPort(source),
  };
}

/** How a person names the parameters of an operation. */
export function namer(operation: Operation): (name: string) => string {
  return (name) => {
    const param = paramsOf(operation)[name];
    return param === undefined ? name : givenAs([name, param]);
  };
}

function askingPort(
  { asks }: Operation,
  { ledger, config, flags }: ContextSource,
): OperationContext["service"] {
  const pace = defined({ requestsPerSecond: flags.rate });
  return servicePort(
    config,
    // An operation that asks nothing may have no ledger open.
    (options) =>
      serviceClient(config, ledger.environment, { ...pace, ...options }),
    asks === undefined ? {} : {
      address: serviceEnvironment(config, ledger.environment).baseUrl,
      ...pace,
    },
  );
}

function filesPort(
  { io, ledger, config, inputs, endProgress }: ContextSource,
): LedgerFiles {
  return {
    left: () => leftSpoolFiles(spoolDirectory(config)),
    drain: () => drainLeft(spoolDirectory(config), ledger),
    compareStates: () => {
      endProgress();
      return ledger.verifyStates({ signal: io.signal });
    },
    read: (file) => {
      const input = inputs.get(file);
      if (input !== undefined) return input;
      throw new TypeError(`No parameter names the file ${file}`);
    },
    backUp: (file, onProgress) => backUp(io, config, { file, onProgress }),
    restore: (from) => restore(io, config, from),
    newSalt: () => crypto.getRandomValues(new Uint8Array(16)),
  };
}

/** Opens the files that parameters name: a wrong name leaves nothing behind. */
export async function openInputs(
  io: Io,
  operation: Operation,
  values: OperationValues,
): Promise<Inputs> {
  const inputs = new Map<string, AsyncIterable<Uint8Array>>();
  for (const [name, { isFile }] of taken(operation)) {
    const file: unknown = Reflect.get(values, name);
    if (!isFile || typeof file !== "string") continue;
    inputs.set(file, await openInput(file, io.signal));
  }
  return inputs;
}

/**
 * What asks the partner's chain nodes.
 *
 * @throws {UsageError} When none are known.
 */
async function chainPort(
  io: Io,
  ledger: Ledger,
  config: Config,
): Promise<Pick<OperationContext, "lookAtChain" | "lookAtChains">> {
  const { now, signal } = io;
  const nodes = await openWitness({ config, now }, ledger.environment);
  if (nodes === null) {
    throw new UsageError(
      `Missing setting: no chain nodes are known; set ${VARIABLES.chainsFile}`,
    );
  }
  const parts = { ...nodes, now };
  return {
    lookAtChain: (orderId) => lookAtOrder(ledger, orderId, parts),
    lookAtChains: (since) =>
      createWatcher({ ledger, ...parts }).once(defined({ signal, since })),
  };
}
