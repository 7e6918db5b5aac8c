import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import type { PostOptions } from "../forwarding/post_webhook.ts";
import type { Signer } from "../forwarding/signed_webhook.ts";
import type { Log } from "../monitoring/logger.ts";
import { AlarmSender, type AlarmSenderParts } from "./alarm_sender.ts";
import { type AlarmSources, checkAlarms } from "./check_alarms.ts";
import { DebouncedCheck } from "./debounced_check.ts";

/** What alarms are of, and who is told. */
export interface ForwardAlarmsParts
  extends Omit<AlarmSources, "ledger" | "freeBytes"> {
  /** The ledger. */
  readonly ledger: Pick<Ledger, "driver" | "environment">;
  /** Its address. */
  readonly databaseUrl: string;
  /** Who is told. */
  readonly targets: readonly AlarmSenderParts["target"][];
  /** Signs messages. */
  readonly sign: Signer;
  /** Whether a target wants nothing more. @default {each always does} */
  readonly isOff?: (name: string) => Promise<boolean>;
  /** The log. */
  readonly log: Log;
  /** How it is posted. */
  readonly post?: PostOptions;
  /** Waits. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Pause between two looks, ms. */
const LOOK_EVERY_MS = 15_000;

/**
 * Looks again and again whether anything is wrong, and tells each target of
 * it, until the signal is aborted. A target that is slow or fails holds up
 * neither the others nor anything else.
 */
export async function forwardAlarms(
  parts: ForwardAlarmsParts,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, sign, isOff, log, now, sleep = sleepFor } = parts;
  const senders = parts.targets.map((target) =>
    new AlarmSender({
      target,
      sign,
      driver: ledger.driver,
      environment: ledger.environment,
      host: hostname().replace(/[^A-Za-z0-9-]/g, "-"),
      ...(isOff === undefined ? {} : { isOff: () => isOff(target.name) }),
      log,
      now,
      post: { ...parts.post, signal },
    })
  );
  const debounced = new DebouncedCheck();
  const freeBytes = freeBytesOf(parts.databaseUrl);
  let notifying: Promise<unknown> = Promise.resolve();
  while (!signal.aborted) {
    const look = debounced.take(await checkAlarms({ ...parts, freeBytes }));
    notifying = Promise.all(senders.map((sender) => sender.notify(look)));
    await sleep(LOOK_EVERY_MS, signal).catch(() => {});
  }
  await notifying;
}

/** Measures what is left of the disk that a database is on. */
function freeBytesOf(
  databaseUrl: string,
): () => Promise<number | null> {
  const file = databaseFile(databaseUrl);
  if (file === null) return () => Promise.resolve(null);
  return async () => {
    const { bavail, bsize } = await statfs(dirname(file));
    return bavail * bsize;
  };
}
